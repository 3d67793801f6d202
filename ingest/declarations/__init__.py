"""What the project promises about its streams, read from dbt sources."""
