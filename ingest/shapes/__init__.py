"""The shapes of JSON records: what was seen, what the table becomes, how values get there."""
