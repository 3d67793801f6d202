"""Types of events: what is known of each, its columns, and the table that a person sees."""
