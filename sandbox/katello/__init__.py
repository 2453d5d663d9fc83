"""A stand-in of Foreman with Katello, as far as the sync of repositories goes; written from its API's documents and sources."""
