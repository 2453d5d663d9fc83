"""A local start: PostgreSQL, a broker and perfdash's own processes, from wheels, under one supervisor.

Nothing here needs Django in the supervising process, and nothing in production needs this package.
"""
