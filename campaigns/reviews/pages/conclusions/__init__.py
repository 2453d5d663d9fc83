"""Pages of conclusions: the list, one conclusion, its form, and its steps."""
