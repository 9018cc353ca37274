"""The kinds of time step, one file a kind; `spelling.py` finds them by their text, `infer.py` by the data."""
