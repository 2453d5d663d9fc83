"""RPM packages and their repodata, made up as the files are. Pure."""
