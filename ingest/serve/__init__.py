"""The long-lived driver: streams, continuous dbt and the SQL endpoint in one process."""
