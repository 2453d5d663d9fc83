"""Faults that are planted in the product, and what finds them."""
