"""Writing bronze: the contract of writers, and Spark's own."""
