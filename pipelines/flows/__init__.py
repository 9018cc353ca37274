"""Flows: what the offline house does from end to end, each a plain function that a command calls."""
