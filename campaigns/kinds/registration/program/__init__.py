"""The engine program of the kind `registration`: virtual hosts that register as real ones do.

No Django, no database. `profiles` holds the requests of each client as tables, `bodies` their bodies,
`sequence` the registration of one host, `identities` the certificates that hosts receive.
"""
