"""A batch of a stream into bronze: rows, quarantine, tables of types."""
