"""`make live`: the marketplace while it works, on a real broker, database and registry."""
