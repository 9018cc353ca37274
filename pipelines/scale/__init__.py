"""Work that one machine is too small for, on a cluster."""
