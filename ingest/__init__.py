"""Headwater's ingestion: declared streams land in bronze."""
