"""The tools that `readers` runs, their options, and what another parser finds in their output."""
