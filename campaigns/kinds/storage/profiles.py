"""Profiles of the kind `storage`, as data with their sources. Pure.

`published`, `maintenance`: commands that others have published; their thresholds hold for these commands alone. `database`,
`pulp`: ours, marked so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

GIB, MIB = 1024**3, 1024**2
OWN = "own"
TUNING_GUIDE = "Red Hat Satellite 6.15, performance tuning guide, 4.1; storage-benchmark of satellite-support 5ddb088"
MAINTENANCE = "foreman_maintain 15db198, check of the disk's performance"
OURS = "perfdash; nobody has published a threshold"

DEFAULTS: Mapping[str, str] = {
    "bs": "4k",
    "ioengine": "psync",
    "iodepth": "1",
    "direct": "0",
    "invalidate": "1",
}
"""What fio does unless told otherwise, written out, so that block size and depth stand beside every number."""


@dataclass(frozen=True, slots=True)
class Job:
    """One fio command. options: by name, besides size and directory. metrics: the prefix of its values by direction."""

    name: str
    rw: str
    metrics: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def written_out(self) -> dict[str, str]:
        """Return all of its options, those that fio takes by itself included."""
        return {"name": self.name, "rw": self.rw, **DEFAULTS, **self.options}

    @property
    def has_many_files(self) -> bool:
        """Return whether it works on many files of different sizes, not on one."""
        return "filesize" in self.options


@dataclass(frozen=True, slots=True)
class Profile:
    """Commands that are run one after another. needs_ram: the file has to be twice the memory, or its cache is measured.

    size_gib: of the file, unless another is asked for; 0: twice the memory.
    """

    label: str
    source: str
    jobs: Sequence[Job]
    needs_ram: bool = False
    size_gib: float = 0.0


RANDOM = {"read": "random_read", "write": "random_write"}
FRESH = {"refill_buffers": "1", "buffer_compress_percentage": "0"}
"""Data that storage cannot compress or find twice."""

MANY_FILES = {
    "bs": "64k",
    "filesize": "20k-4m",
    "file_service_type": "sequential",
    "openfiles": "1",
    "unlink": "0",  # fio opens a file more than once; the directory is removed with all of them
}
BYTES_OF_A_FILE = 2 << 20
"""Of MANY_FILES, on average; that many files are made which together have the size of the run."""

PROFILES: Mapping[str, Profile] = {
    "published": Profile(
        "Published storage benchmark: read, write, random 80/20",
        TUNING_GUIDE,
        (
            Job("read-test", "read", {"read": "read"}),
            Job("write-test", "write", {"write": "write"}),
            Job("randrw-test", "randrw", RANDOM, {"rwmixread": "80"}),
        ),
        needs_ram=True,
    ),
    "maintenance": Profile(
        "Quick check of the maintenance tool: 4 KiB, direct",
        MAINTENANCE,
        (Job("job1", "read", {"read": "read"}, {"direct": "1"}),),
        size_gib=1.0,
    ),
    "database": Profile(
        "Database: 8 KiB random 70/30, depth 16, direct, each write synchronised",
        OURS,
        (
            Job(
                "database",
                "randrw",
                RANDOM,
                {
                    "bs": "8k",
                    "ioengine": "libaio",
                    "iodepth": "16",
                    "direct": "1",
                    "rwmixread": "70",
                    "fdatasync": "1",
                    **FRESH,
                },
            ),
        ),
        size_gib=4.0,
    ),
    "pulp": Profile(
        "Pulp: files of 20 kB to 4 MB written and synchronised, then read",
        OURS,
        (
            Job(
                "pulp-write",
                "write",
                {"write": "write"},
                {**MANY_FILES, "create_on_open": "1", "end_fsync": "1", **FRESH},
            ),
            Job(
                "pulp-read",
                "read",
                {"read": "read"},
                MANY_FILES,
            ),
        ),
        size_gib=2.0,
    ),
}


def own_profile(rw: str) -> Profile:
    """Return a profile of one job, whose options are those of the campaign."""
    random = rw.startswith("rand")
    both = {
        "read": "random_read" if random else "read",
        "write": "random_write" if random else "write",
    }
    directions = ("read", "write") if rw in ("rw", "randrw") else (rw.removeprefix("rand"),)
    return Profile(
        "Options of one's own",
        OURS,
        (Job("own", rw, {each: both[each] for each in directions}, FRESH),),
    )


def published_line(job: Job, size: str, directory: str) -> str:
    """Return the command of a published job, to the letter, with its size and directory."""
    mix = f" --rwmixread={job.options['rwmixread']}" if "rwmixread" in job.options else ""
    return f"fio --name={job.name} --rw={job.rw} --size={size} --directory={directory}/storage-benchmark{mix} --unlink=1"


def size_text(size: int) -> str:
    """Return a size as fio and the published script write it: 64G, or 512m."""
    return f"{size // GIB}G" if size % GIB == 0 else f"{size // MIB}m"


def options_of(job: Job, size: int, others: Mapping[str, str]) -> list[str]:
    """Return all options of a job as arguments. others: in place of those of the profile."""
    options = {**job.written_out, **others, "unlink": job.options.get("unlink", "1")}
    if job.has_many_files:
        options["nrfiles"] = str(max(1, size // BYTES_OF_A_FILE))
    else:
        options["size"] = size_text(size)
    return [f"--{name}={value}" for name, value in options.items()]
