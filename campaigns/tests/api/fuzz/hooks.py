"""Lets schemathesis find what is there: half of its addresses are of campaigns and runs that exist."""

import schemathesis

THERE = {"id": 2, "position": 6, "number": 2}
NAMES = {"kind": "sync", "name": "total"}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    """Turn half of all numbers into small ones, and half of all words into known ones."""
    for name, value in (path_parameters or {}).items():
        if name in THERE and isinstance(value, int) and value % 2:
            path_parameters[name] = 1 + value % THERE[name]
        elif name in NAMES and isinstance(value, str) and len(value) % 2:
            path_parameters[name] = NAMES[name]
    return path_parameters


@schemathesis.hook
def before_call(context, case, kwargs):
    """Send no cursors that were made up and look good: they are taken from answers."""
    if case.query and "cursor" in case.query and case.meta.generation.mode.is_positive:
        del case.query["cursor"]
