"""Changes of databases: the connector that writes them to topics, and whether any were lost."""
