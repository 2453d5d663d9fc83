"""Faults in the middle of a measurement, again and again; after each one the books are checked.

PERFDASH_FAULT_ROUNDS says how often each fault happens in a row (default: once).
"""
