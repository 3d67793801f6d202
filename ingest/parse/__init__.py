"""Bytes to exact values or Arrow columns, in plain Python."""
