"""The symbolic interpreter: statement language in, terms out."""
