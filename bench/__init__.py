"""Benchmarks: side by side with the same work by hand in plain Spark, as ratios."""
