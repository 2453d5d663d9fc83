"""Execute runs: claim, reset, apply, measure, verify, close. PostgreSQL decides who holds a lease."""
