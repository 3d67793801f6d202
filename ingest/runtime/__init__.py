"""Streams that run: queries, checkpoints, recovery, maintenance."""
