"""Delta tables: their columns, how they are made, how they are appended to."""
