"""Shapes of records, how a table's columns follow them, and what is recorded of both."""
