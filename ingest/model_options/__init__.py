"""Options of dbt models."""
