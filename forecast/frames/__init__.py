"""The data contract: from the frames people have to series on a regular time axis, and back with their own types."""
