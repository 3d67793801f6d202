"""Kafka Connect's connectors of databases, and whether changes were lost."""
