"""Streams at work: locks, checkpoints, queries."""
