"""Decoders: from a batch's input to rows that fit the table, and the others."""
