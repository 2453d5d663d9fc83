"""Results in and out: submit, import, export."""

import typer


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
