"""Reports of conclusions: built once, written as page, file and Markdown."""
