"""Which tests are run, when, and by which worker: tiers, nightly tests, tests of a change, sharing of work."""
