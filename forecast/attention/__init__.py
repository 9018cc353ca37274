"""Attention: one written definition of who sees whom, and the kernels that compute it."""
