"""Doors into perfdash: password, second factor, provider, invitation; and what an account has of them."""
