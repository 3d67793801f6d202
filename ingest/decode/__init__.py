"""From bytes to typed records, one module a format."""
