"""A simulated Foreman with Katello, as far as the sync of repositories goes; written from its API's documents and sources."""
