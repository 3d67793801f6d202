"""Kafka, PostgreSQL, schema registry, Connect and S3 on this machine, for development and tests."""
