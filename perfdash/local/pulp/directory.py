"""Where a Pulp lives: what is in its directory, and that script/server never takes it for its own.

venv/       Pulp's own virtual environment
database/   the PostgreSQL cluster; elsewhere where its account cannot walk here, see ownership.py
media/      artifacts; work/ what is being downloaded; assets/ static files
secrets/    database password, keys, the password of `admin`; mode 0600
log/        a file a process
run/        sockets, and state.json
"""

from perfdash.local.directory import DataDirectory


class PulpDirectory(DataDirectory):
    """The directory of one Pulp."""

    marker = ".perfdash-pulp"
    maker = "script/pulp"
    parts = ("secrets", "media", "work", "assets", "log", "run")
