"""Schemas that producers agreed on, in a registry that speaks Confluent's API."""
