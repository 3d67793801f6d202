"""Files of a lake without Spark: its layout, locks, the embedded catalog, Delta logs."""
