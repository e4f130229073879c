"""Reads SGLang's KV-cache sizing formula from source and compares it by meaning."""

__version__ = "0.1.0"
