"""What is new in a folder or a topic."""
