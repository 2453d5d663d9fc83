"""Watches: what is observed on a target while it is measured.

`sources` holds one module for each source, `base` their contract, `catalog` the quantities that they read,
`groups` the groups of processes, `align` the clocks and the grid of a run, `collect` the threads that sample. All of
this is pure: `rows` and `saving` know the database.
"""
