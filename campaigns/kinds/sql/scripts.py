"""The scripts that pgbench runs: those that are built in, and the check of one's own. Pure.

Tables are in a schema of their own, which is named in each statement: a proxy that hands out a server's connection for one
transaction at a time (PgBouncer) keeps no search path.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

SCHEMA = "perfdash_bench"
KV_READ, KV_WRITE, KV_MIXED = "kv-read", "kv-write", "kv-mixed"
TPCB, SIMPLE_UPDATE, SELECT_ONLY, OWN = "tpcb-like", "simple-update", "select-only", "own"
OF_KV = (KV_READ, KV_WRITE, KV_MIXED)
OF_PGBENCH = (TPCB, SIMPLE_UPDATE, SELECT_ONLY)
READING = (KV_READ, SELECT_ONLY)
MOST_BYTES = 64 * 1024
MOST_SCRIPTS = 20
ACCOUNTS, TELLERS = 100_000, 10
"""Of one unit of pgbench's scale."""

READ = f"""\\set key random(1, :rows)
SELECT k, v FROM {SCHEMA}.kv WHERE k = :key;
"""
VALUE = "decode(rpad(md5(:value::text), 2 * :value_bytes, md5(:value::text)), 'hex')"
WRITE = f"""\\set key random(1, :rows)
\\set value random(1, 2000000000)
UPDATE {SCHEMA}.kv SET v = {VALUE} WHERE k = :key;
"""
AID = f"\\set aid random(1, {ACCOUNTS} * :scale)\n"
DELTA = f"""\\set bid random(1, 1 * :scale)
\\set tid random(1, {TELLERS} * :scale)
\\set delta random(-5000, 5000)
BEGIN;
UPDATE {SCHEMA}.pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
"""
SELECT = f"SELECT abalance FROM {SCHEMA}.pgbench_accounts WHERE aid = :aid;\n"
BRANCHES = f"""UPDATE {SCHEMA}.pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE {SCHEMA}.pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
"""
HISTORY = f"""INSERT INTO {SCHEMA}.pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
"""
TEXTS: Mapping[str, str] = {
    KV_READ: READ,
    KV_WRITE: WRITE,
    TPCB: AID + DELTA + SELECT + BRANCHES + HISTORY,
    SIMPLE_UPDATE: AID + DELTA + SELECT + HISTORY,
    SELECT_ONLY: AID + SELECT,
}
"""pgbench's own scripts to the letter, but for the schema."""

ALLOWED = frozenset(
    [
        "set",
        "sleep",
        "startpipeline",
        "endpipeline",
        "syncpipeline",
        "gset",
        "aset",
        "if",
        "elif",
        "else",
        "endif",
    ]
)
"""Commands of pgbench; `shell` and `setshell` run programs on the generator."""
HEAD = re.compile(r"--\s*script:\s*([A-Za-z0-9_-]{1,30})(?:\s*,?\s*weight\s+(\d{1,6}))?\s*\Z")
COMMAND = re.compile(r"\\\s*([A-Za-z]*)")
CONTINUED = re.compile(r"\\(?=\r?\n)")
"""A backslash at the end of a line, which pgbench leaves out before the word of a command, too."""
RUNS_PROGRAMS = re.compile(r"\\\s*(set)?shell\b", re.IGNORECASE)
ADDRESS = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
KEYWORD = re.compile(
    r"\b(?:host|hostaddr|dbname|service|passfile|sslkey)\s*=\s*[^\s=]", re.IGNORECASE
)
PROGRAM = re.compile(
    r"\bCOPY\b[^;]*\b(?:TO|FROM)\s+PROGRAM\b", re.IGNORECASE | re.DOTALL | re.ASCII
)
ELSEWHERE = re.compile(r"\b(?:CREATE|ALTER)\s+(?:SERVER|SUBSCRIPTION)\b", re.IGNORECASE)
DOLLAR = re.compile(r"\$(?:[A-Za-z_][A-Za-z0-9_]*)?\$")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}\Z")
OURS = frozenset({"scale", "client_id", "default_seed", "random_seed", "rows", "value_bytes"})
"""Variables that pgbench or perfdash sets."""


class BadScript(ValueError):
    """A script, or a variable of it, is refused; the message names the line."""


@dataclass(frozen=True, slots=True)
class Script:
    """One script with its weight among those of a run."""

    name: str
    text: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a script. kind: code, string, identifier, or comment."""

    kind: str
    text: str
    line: int


def scripts_of(name: str, read_percent: int, own: str) -> list[Script]:
    """Return the scripts of a run with their weights. Raise BadScript."""
    if name == KV_MIXED:
        both = [Script("read", READ, read_percent), Script("write", WRITE, 100 - read_percent)]
        return [script for script in both if script.weight]
    if name == OWN:
        return check(own)
    return [Script(name, TEXTS[name])]


def check(text: str) -> list[Script]:
    """Return one's own scripts. Raise BadScript, naming the line, where it may not or cannot be run.

    A line `-- script: NAME, weight N` begins a further script.
    """
    size = len(text.encode(errors="surrogatepass"))
    if size > MOST_BYTES:
        raise BadScript(
            f"The script has {size:,} bytes; give at most {MOST_BYTES:,}. Data belong into tables."
        )
    for number, line in enumerate(text.split("\n"), 1):
        if not line.replace("\t", " ").rstrip("\r").isprintable():
            raise BadScript(f"Line {number} holds a character that is no text: give plain SQL.")
    whole = CONTINUED.sub(
        " ", text
    )  # wherever it stands: where a text ends, pgbench may see otherwise
    if found := RUNS_PROGRAMS.search(whole):
        number = whole.count("\n", 0, found.start()) + 1
        raise BadScript(
            f"Line {number}: \\shell and \\setshell run programs on the generator, and are refused."
        )
    scripts = _split(text.replace("\r\n", "\n"))
    if len(scripts) > MOST_SCRIPTS:
        raise BadScript(f"These are {len(scripts)} scripts; give at most {MOST_SCRIPTS}.")
    names = [script.name for script, _ in scripts]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise BadScript(f"There are two scripts “{twice}”; give each a name of its own.")
    if not any(script.weight for script, _ in scripts):
        raise BadScript("All weights are 0: give a script a weight above 0.")
    for script, first in scripts:
        _check_one(script, first)
    return [script for script, _ in scripts]


def check_initialise(text: str) -> None:
    """Raise BadScript for SQL that leads to another server; it may do anything else in the database."""
    for piece in pieces(text):
        _check_piece(piece)


def warnings_of(text: str) -> list[str]:
    """Return what a person should know of a script that is not refused."""
    whole = "".join(
        piece.text if piece.kind in ("code", "string") else " " * len(piece.text)
        for piece in pieces(text)
    )
    return [
        f"Line {text.count(chr(10), 0, found.start()) + 1}: COPY … PROGRAM runs a program on the database's server."
        for found in PROGRAM.finditer(whole)
    ]


def variables_of(text: str) -> dict[str, str]:
    """Return variables from a text such as `size=10, name=abc`. Raise BadScript."""
    variables: dict[str, str] = {}
    for part in (each.strip() for each in re.split(r"[,\n]", text)):
        if not part:
            continue
        name, sign, value = (each.strip() for each in part.partition("="))
        if not sign or not NAME.match(name):
            raise BadScript(f"“{part[:60]}” is no variable: write name=value, separated by commas.")
        if name.lower() in OURS:
            raise BadScript(
                f"The variable “{name}” is set by pgbench or perfdash: take another name."
            )
        if not value or not value.isprintable():
            raise BadScript(f"The variable “{name}” has no value.")
        variables[name] = value
    return variables


def _split(text: str) -> list[tuple[Script, int]]:
    """Return scripts, each with the number of its first line."""
    found: list[tuple[Script, int]] = []
    name, weight, lines, first = OWN, 1, list[str](), 1
    for number, line in enumerate(text.split("\n"), 1):
        head = HEAD.match(line.strip())
        if head is None:
            lines.append(line)
            continue
        if found or "".join(lines).strip():
            found.append((Script(name, "\n".join(lines), weight), first))
        name, weight, lines, first = head[1], int(head[2] or 1), [], number + 1
    return [*found, (Script(name, "\n".join(lines), weight), first)]


def _check_one(script: Script, first: int) -> None:
    """Check commands, strings and the end of the last statement. first: the number of its first line."""
    code = []
    statements = 0
    for piece in pieces(script.text, first):
        _check_piece(piece)
        if piece.kind != "comment":
            code.append((piece.text if piece.kind == "code" else "'", piece.line))
    rest, rest_line = "", 0
    for line, text in _lines_of(code):
        stripped = text.strip()
        if stripped.startswith("\\"):
            _check_command(stripped, line)
            if stripped.split()[0].lower() in ("\\gset", "\\aset"):
                statements, rest = statements + bool(rest.strip()), ""
            continue
        before, slash, command = text.partition("\\")
        ended = before.rpartition(";")
        statements += before.count(";")
        if slash:
            _check_command(slash + command, line, within=True)
            statements, rest = statements + 1, ""
            continue
        rest = f"{rest} {before}" if not ended[1] else ended[2]
        rest_line = line if rest.strip() else rest_line
    if rest.strip():
        raise BadScript(
            f"Line {rest_line}: the last statement does not end; write “;” or \\gset behind it."
        )
    if not statements:
        raise BadScript(f"The script “{script.name}” has no statement.")


def _check_command(text: str, line: int, *, within: bool = False) -> None:
    """Raise BadScript for a command that is not among those of pgbench that are allowed."""
    found = COMMAND.match(text)
    name = found[1].lower() if found else ""
    if name not in ALLOWED:
        known = ", ".join(f"\\{each}" for each in sorted(ALLOWED))
        raise BadScript(
            f"Line {line}: there is no command “\\{name[:30]}” here; there are {known}."
        )
    if within and name not in ("gset", "aset"):
        raise BadScript(f"Line {line}: “\\{name}” has to begin a line of its own.")


def _check_piece(piece: Piece) -> None:
    """Raise BadScript where a part of SQL names another server."""
    wrong = {"string": (KEYWORD, ADDRESS), "code": (ELSEWHERE, ADDRESS), "identifier": (ADDRESS,)}
    for pattern in wrong.get(piece.kind, ()):
        if found := pattern.search(piece.text):
            raise BadScript(_elsewhere(piece.line + piece.text.count("\n", 0, found.start())))


def _elsewhere(line: int) -> str:
    return (
        f"Line {line} holds a connection string: a run loads only its target, so a script names no other "
        "server (dblink, foreign servers)."
    )


def _lines_of(code: list[tuple[str, int]]) -> Iterator[tuple[int, str]]:
    """Yield the lines of code, with strings as quotes, each with its number."""
    number, text = 0, ""
    for part, first in code:
        if first != number and not text:
            number = first
        for index, line in enumerate(part.split("\n")):
            if index:
                yield number, text
                number, text = first + index, ""
            text += line
    yield number, text


def pieces(text: str, first: int = 1) -> Iterator[Piece]:
    """Split SQL into code, strings, quoted identifiers and comments."""
    at, line, begin = 0, first, 0
    while at < len(text):
        end, kind = _special(text, at)
        if not kind:
            at += 1
            continue
        if begin < at:
            yield Piece("code", text[begin:at], line)
            line += text.count("\n", begin, at)
        yield Piece(kind, text[at:end], line)
        line += text.count("\n", at, end)
        at = begin = end
    if begin < len(text):
        yield Piece("code", text[begin:], line)


def _special(text: str, at: int) -> tuple[int, str]:
    """Return the end and the kind of what begins here; an empty kind where it is code."""
    character = text[at]
    if character == "'":
        escapes = text[max(0, at - 1) : at] in ("e", "E") and not _in_word(text, at - 1)
        return _quoted(text, at, "'", escapes=escapes), "string"
    if character == '"':
        return _quoted(text, at, '"'), "identifier"
    if text.startswith("--", at):
        end = text.find("\n", at)
        return (end if end >= 0 else len(text)), "comment"
    if text.startswith("/*", at):
        return _comment(text, at), "comment"
    if character == "$" and not _in_word(text, at) and (found := DOLLAR.match(text, at)):
        end = text.find(found[0], found.end())
        return (end + len(found[0]) if end >= 0 else len(text)), "string"
    return at, ""


def _in_word(text: str, at: int) -> bool:
    """Return whether what stands before belongs to a name, so that this is not its beginning."""
    before = text[at - 1] if at > 0 else ""
    return before.isalnum() or before in ("_", "$") or before > "\x7f"


def _quoted(text: str, at: int, quote: str, *, escapes: bool = False) -> int:
    end = at + 1
    while end < len(text):
        if escapes and text[end] == "\\":
            end += 2
        elif text[end] == quote:
            if text.startswith(quote * 2, end):
                end += 2
                continue
            return end + 1
        else:
            end += 1
    return len(text)


def _comment(text: str, at: int) -> int:
    depth, end = 1, at + 2
    while end < len(text) and depth:
        if text.startswith("/*", end):
            depth, end = depth + 1, end + 2
        elif text.startswith("*/", end):
            depth, end = depth - 1, end + 2
        else:
            end += 1
    return end
