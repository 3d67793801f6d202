"""Refused records: their table, and how they leave it."""
