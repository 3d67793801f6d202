"""Spark and its JVM: how they start, sessions, Delta's writer, Kafka's admin client."""
