"""Virtual hosts that register as real ones do: the engine program of the kind `registration`.

No Django, no database. `profiles` holds the requests of each client as tables, `bodies` what they send,
`sequence` one host's way through them, `identity` what a host is given to be known by.
"""
