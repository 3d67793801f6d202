"""Changes applied to Delta tables from Python, with the SQL of dbt's `apply_changes`."""
