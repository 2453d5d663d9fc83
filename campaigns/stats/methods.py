"""Which state of the methods findings were computed by. Imports nothing, so that anybody may ask."""

METHODS = "16"
"""To be raised with what is computed, stored or said: findings of another one are computed anew."""
