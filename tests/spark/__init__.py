"""A package, so that pytest ends its Spark session before it goes on to other folders."""
