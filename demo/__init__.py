"""The demonstration: a marketplace's day, a newcomer's commands, and a look at what came out."""
