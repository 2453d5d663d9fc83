"""Reports of conclusions for people who were not there: built once, written as page, file and Markdown."""
