"""The version of the statistical methods. Imports nothing."""

METHODS = "16"
"""To be raised with what is computed, stored or said: findings of another one are computed anew."""
