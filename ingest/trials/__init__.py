"""Builds on a lake of their own, of slices of the real one: fuzz, and what a change changes."""
