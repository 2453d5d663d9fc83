"""The steps of the kind `sync` with a Katello: repositories that are there already are synced once more."""
