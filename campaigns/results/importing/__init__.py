"""What was measured elsewhere comes in: as finished campaigns, or at the end of one.

`submitted` declares a submission; `document` checks one of the REST API, `files` a file that `campaigns.results.readers` (pure) has read;
`receiving` stores both, with `places` for cells and blocks and `known` for what is there already.
`demonstration` brings what a newcomer sees first, `stand_ins` a target to register hosts with.
"""
