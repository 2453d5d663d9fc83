"""The version of the statistical methods. Imports nothing."""

METHODS = "24"
"""Raise it with any change of what is computed, stored or worded: findings of another version are recomputed."""
SAME_RULES = 24
"""Since this version verdicts follow the same rules; earlier findings are compared by what they say, not by their numbers."""


def of_earlier_rules(methods: str) -> bool:
    """Return whether a version of the methods judged by earlier rules; one that is no number did, too."""
    return not methods.isdecimal() or int(methods) < SAME_RULES
