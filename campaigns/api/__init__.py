"""REST: the face for programs. Each view checks the shape of what came in and calls a function."""
