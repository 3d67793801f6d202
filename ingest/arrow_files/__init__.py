"""Data files of Delta tables, written by Spark's Python workers."""
