"""The kernels that compute attention: one file each, chosen in `forecast.attention.choice`."""
