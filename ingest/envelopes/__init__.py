"""Readers of messages: Kafka Connect, Debezium, CloudEvents; and masks.

What an envelope gives a declaration, its key and types, is in `declarations/envelope_defaults.py`.
"""
