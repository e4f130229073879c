"""Implementations of the ports: git, folders, archives, the package index and the disk."""
