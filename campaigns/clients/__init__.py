"""HTTP clients of the servers under test: what a driver asks of their REST APIs. No Django."""
