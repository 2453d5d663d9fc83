"""Files that only their owner may read, whole or not there at all. Knows not what is in them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """Make a new file, and have it on disk in the end. Raise OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, data: bytes) -> None:
    """Write a file, over one that may be there. Raise OSError, and leave that one as it is."""
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    with private_file(new) as file:
        file.write(data)
    new.replace(path)
