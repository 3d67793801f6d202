"""Kafka, PostgreSQL, schema registry and Connect on this machine, for development and tests."""
