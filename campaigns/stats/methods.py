"""The version of the statistical methods. Imports nothing."""

METHODS = "23"
"""Raise it with any change of what is computed, stored or worded: findings of another version are recomputed."""
