"""What messages wrap a record in: Kafka Connect, Debezium, CloudEvents; and masks."""
