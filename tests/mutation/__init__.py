"""Real releases with one change, of meaning or of text alone."""
