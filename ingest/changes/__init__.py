"""Apply changes to Delta tables from Python: the SQL of dbt's `apply_changes`, rendered here."""
