"""The commands, one module a noun. Each checks its options, asks the server, prints the answer."""
