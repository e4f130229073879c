"""Runs the sizing code of real releases and compares it with what the analyzer says it computes."""
