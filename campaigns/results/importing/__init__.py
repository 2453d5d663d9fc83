"""Import runs that were measured elsewhere, as finished campaigns or into an existing one.

`submitted` declares a submission. `document` checks one of the REST API; `files` one that
`campaigns.results.readers` has read from a file. `receiving` stores both, with `places` for cells and
blocks, and `known` for runs that are already stored. `demonstration` creates what a new user sees first,
`simulated_katello` a target to register hosts with.
"""
