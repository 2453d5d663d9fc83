"""The commands, one module per noun. Each checks its options, sends requests, and prints the answer."""
