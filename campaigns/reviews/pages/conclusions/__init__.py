"""Pages of conclusions: the list, one of them, its form, and the steps of its life."""
