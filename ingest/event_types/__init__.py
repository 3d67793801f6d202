"""Types of events: what is known of each, its columns, and the view that shows it."""
