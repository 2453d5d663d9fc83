"""Charts of trends. Pure."""
