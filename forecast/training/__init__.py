"""Training with Lightning: the only room of `forecast` that knows it; no architecture in here."""
