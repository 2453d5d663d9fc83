"""Import runs that were measured elsewhere, as finished campaigns or at the end of one.

`submitted` declares a submission. `document` checks one of the REST API; `files` one that
`campaigns.results.readers` has read from a file. `receiving` stores both, with `places` for cells and
blocks, and `known` for runs that are stored already. `demonstration` creates what a newcomer sees
first, `simulated_katello` a target to register hosts with.
"""
