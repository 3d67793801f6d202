"""Files as a source: found by listing, queued, and handed to a batch by name."""
