"""Sign-in: password, second factor, OpenID Connect provider, invitation, one-time link."""
