"""Simulated targets that a fresh machine can test against. Imports nothing of campaigns or perfdash."""
