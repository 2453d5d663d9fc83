"""The page in a bundle that says what is in it and how to verify it."""

from collections.abc import Sequence

from campaigns.bundles.manifest import FORMAT, Told
from perfdash import __version__

TEXT = """# {title}

{campaigns}

## Verify it

Every number in this zip can be computed again, without a network and without the installation that it
comes from. With perfdash {version} and any PostgreSQL, an empty one, too:

    export DATABASE_URL=postgres://…
    python manage.py verify_bundle FILE.zip

It says which number differs, what the bundle says and what the data give; exit code 0: all are the
same; 1: one differs; 2: the file is damaged or unsafe; 3: written in an unknown format. Nothing is left
behind in the database. The digests alone: `unzip FILE.zip -d DIR`, then compare `sha256sum` with
`manifest.json`. The *seal* is the SHA-256 of `manifest.json` itself; who has it from somewhere else
(the page, the REST header `Perfdash-Seal`, the record of activity) gives it as `--seal`.

## What is in it

| file | what |
|---|---|
| `manifest.json` | format ({format}), versions of methods and libraries, hash of the data, SHA-256 of every file |
| `campaign-N/definition.json` | the definition, as it can be sent again |
| `campaign-N/rows/*.ndjson` | runs, attempts, measurements, distributions (HDR, base64), series, raw samples, phases, proofs, settings in force, environment, exclusions, amendments, sessions and the log: one JSON object a line |
| `campaign-N/rows/finding.ndjson` | what the statistics say, with the hash of their data and versions |
{more}
Passwords, tokens, keys, activation keys and addresses of webhooks are not in it; where one stood in a
text there is `[secret]`, or `[activation key 1]`. {taken_out}
"""


def readme(told: Sequence[Told], more: Sequence[str]) -> str:
    """Write it."""
    return TEXT.format(
        title=told[0].name if len(told) == 1 else f"{len(told)} campaigns",
        campaigns="\n".join(
            f"* `{each.folder}` {each.name}: {each.question}\n  Hash of the data: `{each.data_hash}`, "
            f"seed {each.seed}, kind {each.kind}"
            for each in told
        ),
        version=__version__,
        format=FORMAT,
        more="".join(
            f"| `more/{name}` | belongs to what the bundle was made for |\n" for name in more
        ),
        taken_out=_taken_out(told),
    )


def _taken_out(told: Sequence[Told]) -> str:
    changed = [each.folder for each in told if each.bundle_hash != each.data_hash]
    if not changed:
        return "The hash of the data can be computed from what is here."
    return (
        f"In {', '.join(changed)} something was taken out that is hashed; so the data here have another "
        "hash (`bundle_hash`) than where they were measured (`data_hash`)."
    )
