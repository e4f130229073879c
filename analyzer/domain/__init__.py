"""Frozen types that every other layer speaks in; imports nothing of the project above it."""
