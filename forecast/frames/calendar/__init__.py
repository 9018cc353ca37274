"""The kinds of time step: one file a kind, listed in `Calendar`'s users `spelling.py` (by text) and `infer.py` (by data)."""
