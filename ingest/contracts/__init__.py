"""What a change of the project's declarations breaks, found before it is merged."""
