"""Read a zip from an untrusted source: only its expected members, within limits."""

import json
import zipfile
import zlib
from collections.abc import Generator
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

MOST_BYTES = 8 << 30
MOST_LINE_BYTES = 256 << 20
MOST_FILES = 2000
MOST_RATIO = 300
"""The largest ratio of unpacked to packed size of a large file; a zip bomb, or zeros alone, reach 1000."""
SMALL_BYTES = 128 << 20
READ_BYTES = 1 << 20
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


class Damaged(ValueError):
    """The file is not a bundle, is incomplete, or is unsafe to open."""


class Archive:
    """The files of a bundle by name. Nothing is unpacked to the disk."""

    def __init__(self, path: Path, most_bytes: int = MOST_BYTES) -> None:
        """Open the zip. Raise Damaged where it is not a zip, or holds files that a bundle cannot hold."""
        try:
            self._zip = zipfile.ZipFile(path)
        except OSError as error:
            raise Damaged(f"{path} cannot be read: {error.strerror or error}.") from None
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise Damaged(f"{path} is not a whole zip file: {error}.") from None
        self.infos: dict[str, zipfile.ZipInfo] = {}
        try:
            self._look(most_bytes)
        except Damaged:
            self._zip.close()
            raise

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def _look(self, most_bytes: int) -> None:
        entries = self._zip.infolist()
        if len(entries) > MOST_FILES:
            raise Damaged(
                f"The zip has {len(entries):,} files; a bundle has at most {MOST_FILES:,}."
            )
        total = 0
        for info in entries:
            name = info.orig_filename
            _refuse_name(name, info)
            if name in self.infos:
                raise Damaged(f"The zip holds {name!r} twice.")
            if info.flag_bits & 1 or info.compress_type not in PACKED:
                raise Damaged(f"{name} is encrypted, or packed in a way that no bundle is.")
            if info.file_size > max(SMALL_BYTES, MOST_RATIO * info.compress_size):
                raise Damaged(
                    f"{name} claims to be {info.file_size:,} bytes, packed in {info.compress_size:,}: "
                    "that is a zip bomb, or no bundle."
                )
            total += info.file_size
            if total > most_bytes:
                raise Damaged(
                    f"Unpacked, the zip is larger than {most_bytes:,} bytes. If you trust where it "
                    "comes from, allow more with --most-gigabytes."
                )
            self.infos[name] = info

    def digest(self, name: str) -> tuple[str, int]:
        """Return SHA-256 (hex) and size of a file. Raise Damaged where it cannot be read."""
        result, size = sha256(), 0
        with self._open(name) as file:
            while data := _read(file, name):
                result.update(data)
                size += len(data)
        return result.hexdigest(), size

    def document(self, name: str) -> Any:
        """Read a file that is one JSON document. Raise Damaged."""
        with self._open(name) as file:
            data = _read(file, name, MOST_LINE_BYTES + 1)
        if len(data) > MOST_LINE_BYTES:
            raise Damaged(f"{name} is larger than {MOST_LINE_BYTES:,} bytes.")
        return parsed(data, name)

    def lines(self, name: str) -> Generator[tuple[int, Any], None, None]:
        """Yield number and value of each line of a file with one JSON value per line. Raise Damaged."""
        with self._open(name) as file:
            number = 0
            while True:
                try:
                    line = file.readline(MOST_LINE_BYTES + 1)
                except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
                    raise Damaged(f"{name} is damaged after line {number}: {error}.") from None
                if not line:
                    return
                number += 1
                if len(line) > MOST_LINE_BYTES:
                    raise Damaged(
                        f"{name}, line {number} is larger than {MOST_LINE_BYTES:,} bytes."
                    )
                yield number, parsed(line, f"{name}, line {number}")

    def _open(self, name: str) -> IO[bytes]:
        if name not in self.infos:
            raise Damaged(f"{name} is missing from the zip.")
        try:
            return self._zip.open(self.infos[name])
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
            raise Damaged(f"{name} is damaged: {error}.") from None


def parsed(data: bytes, place: str) -> Any:
    """Parse JSON without NaN and infinity. Raise Damaged."""
    try:
        return json.loads(data, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"{place} is not JSON: {error}.") from None


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is no number")


def _read(file: IO[bytes], name: str, size: int = READ_BYTES) -> bytes:
    try:
        return file.read(size)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise Damaged(f"{name} is damaged: {error}.") from None


def _refuse_name(name: str, info: zipfile.ZipInfo) -> None:
    parts = name.replace("\\", "/").split("/")
    is_link = (info.external_attr >> 16) & 0o170000 == 0o120000
    if name.startswith(("/", "\\")) or ":" in name or ".." in parts or "\0" in name:
        raise Damaged(f"The zip holds {name!r}, a path that leads out of it. It was not opened.")
    if is_link or info.is_dir() or not name.isprintable():
        raise Damaged(f"The zip holds {name!r}, which is no plain file. It was not opened.")
