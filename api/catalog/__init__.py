"""Where models come from: a registry, or one folder."""
