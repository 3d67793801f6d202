"""Which models and exposures of the project read a column of a stream."""
