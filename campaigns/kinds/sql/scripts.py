"""The scripts that pgbench runs: those that are built in, and the check of one's own. Pure.

Tables are in a schema of their own, which is named in each statement: a proxy that hands out a server's connection for one
transaction at a time (PgBouncer) keeps no search path.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, islice

SCHEMA = "perfdash_bench"
KV_READ, KV_WRITE, KV_MIXED = "kv-read", "kv-write", "kv-mixed"
TPCB, SIMPLE_UPDATE, SELECT_ONLY, OWN = "tpcb-like", "simple-update", "select-only", "own"
OF_KV = (KV_READ, KV_WRITE, KV_MIXED)
OF_PGBENCH = (TPCB, SIMPLE_UPDATE, SELECT_ONLY)
READING = (KV_READ, SELECT_ONLY)
MOST_BYTES = 64 * 1024
MOST_SCRIPTS = 20
MOST_WARNINGS = 20
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
HEAD = re.compile(
    r"--\s*+script:\s*+([A-Za-z0-9_-]{1,30})(?:\s*+(?:,\s*+)?weight\s++(\d{1,6}))?\s*+\Z"
)
COMMAND = re.compile(r"\\\s*([A-Za-z]*)")
CONTINUED = re.compile(r"\\(?=\r?\n)")
"""A backslash at the end of a line, which pgbench leaves out before the word of a command, too."""
RUNS_PROGRAMS = re.compile(r"\\\s*(set)?shell\b", re.IGNORECASE)
ADDRESS = re.compile(r"postgres(?:ql)?://", re.IGNORECASE)
KEYWORD = re.compile(
    r"\b(?:host|hostaddr|port|dbname|service|servicefile|passfile|sslkey|sslcert)\s*=\s*[^\s=]",
    re.IGNORECASE,
)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_$]*|;")
ELSEWHERE = frozenset({"SERVER", "SUBSCRIPTION"})
"""What names another server, after CREATE or ALTER."""
SPECIAL = re.compile(r"['\"$]|--|/\*")
"""How what is no plain code begins."""
JOINED = re.compile(r"(?:[\s()]|\|\||::\s*+[A-Za-z_][A-Za-z0-9_.]*+)*+(?:[EeNn]|[Uu]&)?+\Z")
"""Code between two literals that make one text."""
UESCAPE = re.compile(r"\s*+UESCAPE\s*+\Z", re.IGNORECASE)
ESCAPE = re.compile(
    r"\\(?:([0-7]{1,3})|x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL
)
VARIABLE = re.compile(r"(?<!:):([A-Za-z0-9_]+)")
MOST_DEPTH = 8
"""Of texts that hold SQL that holds texts."""
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


def scripts_of(
    name: str, read_percent: int, own: str, variables: Mapping[str, str] | None = None
) -> list[Script]:
    """Return the scripts of a run with their weights. variables: of one's own. Raise BadScript."""
    if name == KV_MIXED:
        both = [Script("read", READ, read_percent), Script("write", WRITE, 100 - read_percent)]
        return [script for script in both if script.weight]
    if name == OWN:
        return check(own, variables)
    return [Script(name, TEXTS[name])]


def check(text: str, variables: Mapping[str, str] | None = None) -> list[Script]:
    """Return one's own scripts. Raise BadScript, naming the line, where it may not or cannot be run.

    A line `-- script: NAME, weight N` begins a further script. variables: those that pgbench puts into it.
    """
    scripts = _checked(text)
    for script, first in _split(text.replace("\r\n", "\n")) if variables else ():
        _refuse_elsewhere(_with_variables(script.text, variables or {}), first)
    return list(scripts)


@lru_cache(maxsize=8)
def _checked(text: str) -> tuple[Script, ...]:
    """Check a script, once for all cells of a campaign."""
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
        _refuse_elsewhere(script.text, first)
    return tuple(script for script, _ in scripts)


@lru_cache(maxsize=8)
def check_initialise(text: str) -> None:
    """Raise BadScript for SQL that leads to another server; it may do anything else in the database."""
    _refuse_elsewhere(text)


def warnings_of(text: str) -> list[str]:
    """Return what a person should know of a script that is not refused: the first MOST_WARNINGS of it."""
    try:
        lines = dict.fromkeys(line for each in _texts_in(text) for line in _programs_in(each))
    except BadScript as error:
        return [str(error)]
    return [
        f"Line {line}: COPY … PROGRAM runs a program on the database's server."
        for line in islice(lines, MOST_WARNINGS)
    ]


def _programs_in(text: "Sql") -> Iterator[int]:
    """Yield the lines of COPY … TO or FROM PROGRAM."""
    copy, before = 0, ""
    for word, line in text.words():
        if word == ";":
            copy = 0
        elif word == "COPY":
            copy = copy or line
        elif word == "PROGRAM" and copy and before in ("TO", "FROM"):
            yield copy
            copy = 0
        before = word


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
    code = [
        (piece.text if piece.kind == "code" else "'", piece.line)
        for piece in pieces(script.text, first)
        if piece.kind != "comment"
    ]
    statements, is_open, open_line = 0, False, 0
    for line, text in _lines_of(code):
        stripped = text.strip()
        if stripped.startswith("\\"):
            _check_command(stripped, line)
            if stripped.split(None, 1)[0].lower() in ("\\gset", "\\aset"):
                statements, is_open = statements + is_open, False
            continue
        before, slash, command = text.partition("\\")
        ended = before.rpartition(";")
        statements += before.count(";")
        if slash:
            _check_command(slash + command, line, within=True)
            statements, is_open = statements + 1, False
            continue
        is_open = bool(ended[2].strip()) or (is_open and not ended[1])
        open_line = line if is_open else open_line
    if is_open:
        raise BadScript(
            f"Line {open_line}: the last statement does not end; write “;” or \\gset behind it."
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


@dataclass(frozen=True, slots=True)
class Text:
    """Literals that make one text, decoded, with the place in it and the line at which each begins."""

    text: str
    begins: tuple[tuple[int, int], ...]

    def line_at(self, place: int) -> int:
        """Return the line of a place."""
        return _Lines(self).at(place)


class _Lines:
    """Tells the lines of a text's places, which are asked in their order: the text is looked through once."""

    def __init__(self, text: Text) -> None:
        self.text = text
        self.part, self.place, self.line = 0, 0, text.begins[0][1]

    def at(self, place: int) -> int:
        """Return the line of a place, which is not before the last one."""
        begins = self.text.begins
        while self.part + 1 < len(begins) and begins[self.part + 1][0] <= place:
            self.part += 1
            self.place, self.line = begins[self.part]
        self.line += self.text.text.count("\n", self.place, place)
        self.place = place
        return self.line


@dataclass(frozen=True, slots=True)
class Sql:
    """SQL as the server reads it. code: without comments, a quote for each literal; texts: its literals; names: in quotes."""

    code: Text
    texts: tuple[Text, ...]
    names: tuple[Text, ...]

    def words(self) -> Iterator[tuple[str, int]]:
        """Yield words, in capitals, and semicolons, with their lines."""
        lines = _Lines(self.code)
        for match in WORD.finditer(self.code.text):
            yield match[0].upper(), lines.at(match.start())


def _texts_in(text: str, first: int = 1) -> Iterator[Sql]:
    """Yield SQL, and the SQL that its literals may be: bodies of DO, what EXECUTE or dblink get. Raise BadScript."""
    waiting = deque([(read_sql(Text(text, ((0, first),))), 1)])
    while waiting:
        sql, depth = waiting.popleft()
        yield sql
        for literal in sql.texts:
            if not SPECIAL.search(literal.text) and not WORD.search(literal.text):
                continue
            if depth == MOST_DEPTH:
                raise BadScript(
                    f"Line {literal.line_at(0)}: texts stand in texts more than {MOST_DEPTH} deep; write them out."
                )
            waiting.append((read_sql(literal), depth + 1))


def _refuse_elsewhere(text: str, first: int = 1) -> None:
    """Raise BadScript where SQL, or a text in it, names another server. first: its first line."""
    for sql in _texts_in(text, first):
        before = ""
        for word, line in sql.words():
            if word in ELSEWHERE and before in ("CREATE", "ALTER"):
                raise BadScript(_elsewhere(line))
            if word == "STANDARD_CONFORMING_STRINGS":
                raise BadScript(
                    f"Line {line} changes how texts are read ({word.lower()}); leave it as it is."
                )
            before = word
        for patterns, parts in (
            ((KEYWORD, ADDRESS), sql.texts),
            ((ADDRESS,), (sql.code, *sql.names)),
        ):
            for part in parts:
                for pattern in patterns:
                    if found := pattern.search(part.text):
                        raise BadScript(_elsewhere(part.line_at(found.start())))


def _with_variables(text: str, variables: Mapping[str, str]) -> str:
    """Return a script as pgbench sends it, with the variables that its author gives. Raise BadScript where that is too long."""
    size = len(text) + sum(
        len(variables[match[1]]) for match in VARIABLE.finditer(text) if match[1] in variables
    )
    if size > 2 * MOST_BYTES:
        raise BadScript(
            f"With its variables the script has {size:,} letters; at most {2 * MOST_BYTES:,} are sent."
        )
    return VARIABLE.sub(lambda match: variables.get(match[1], match[0]), text)


def _elsewhere(line: int) -> str:
    return (
        f"Line {line} holds a connection string: a run loads only its target, so a script names no other "
        "server (dblink, foreign servers)."
    )


def _lines_of(code: list[tuple[str, int]]) -> Iterator[tuple[int, str]]:
    """Yield the lines of code, with strings as quotes, each with its number."""
    number, parts = 0, list[str]()
    for part, first in code:
        if first != number and not any(parts):
            number = first
        for index, line in enumerate(part.split("\n")):
            if index:
                yield number, "".join(parts)
                number, parts = first + index, []
            parts.append(line)
    yield number, "".join(parts)


def pieces(text: str, first: int = 1) -> Iterator[Piece]:
    """Split SQL into code, strings, quoted identifiers and comments."""
    at, line, begin = 0, first, 0
    while found := SPECIAL.search(text, at):
        at = found.start()
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


def read_sql(text: Text) -> Sql:
    """Return SQL with its literals decoded, and joined where the server joins them."""
    reader, lines, place = _Reader(), _Lines(text), 0
    for piece in pieces(text.text):
        reader.take(piece, lines.at(place))
        place += len(piece.text)
    return reader.sql()


class _Reader:
    """Puts pieces of SQL together. between: the code since the last literal; prefix: of the last one, such as E or U&."""

    def __init__(self) -> None:
        self.code: list[tuple[str, int]] = []
        self.texts: list[list[tuple[str, int]]] = []
        self.names: list[list[tuple[str, int]]] = []
        self.between: list[str] = []
        self.prefix = self.raw = ""

    def take(self, piece: Piece, line: int) -> None:
        """Take a piece that begins in this line."""
        if piece.kind == "comment":
            self.code.append((" ", line))
            self.between.append(" ")
        elif piece.kind == "code":
            self.code.append((piece.text, line))
            self.between.append(piece.text)
        elif piece.kind == "identifier":
            self.code.append(('"', line))
            self.between.append('"')
            unicode = len(self.between) > 1 and _ends_in(self.between[-2], "U&")
            self.names.append([(decoded(piece.text, "U&" if unicode else ""), line)])
        else:
            self._string(piece, line)

    def _string(self, piece: Piece, line: int) -> None:
        between = "".join(self.between)
        self.between = []
        self.code.append(("'", line))
        if self.texts and self.prefix == "U&" and UESCAPE.match(between):
            self.texts[-1][-1] = (decoded(self.raw, "U&", piece.text[1:2]), self.texts[-1][-1][1])
            self.prefix = ""
            return
        prefix = next((each for each in ("U&", "E") if _ends_in(between, each)), "")
        is_joined = bool(self.texts) and JOINED.match(between)
        continued = is_joined and not between.strip()
        self.prefix, self.raw = self.prefix if continued and not prefix else prefix, piece.text
        part = (decoded(piece.text, self.prefix), line)
        if is_joined:
            self.texts[-1].append(part)
        else:
            self.texts.append([part])

    def sql(self) -> Sql:
        """Return what was taken."""
        return Sql(
            _together(self.code),
            tuple(map(_together, self.texts)),
            tuple(map(_together, self.names)),
        )


def _together(parts: list[tuple[str, int]]) -> Text:
    ends = [0, *accumulate(len(text) for text, _ in parts)]
    begins = tuple((place, line) for place, (_, line) in zip(ends, parts, strict=False))
    return Text("".join(text for text, _ in parts), begins or ((0, 1),))


def _ends_in(code: str, prefix: str) -> bool:
    """Return whether code ends in the prefix of a literal, which is no end of a name."""
    begin = len(code) - len(prefix)
    return code[begin:].upper() == prefix and begin >= 0 and not _in_word(code, begin)


def decoded(literal: str, prefix: str = "", escape: str = "\\") -> str:
    """Return what a literal or a quoted name stands for. escape: of U&. An escaped line end becomes a blank: it is in no line."""
    if literal[:1] == "$":
        tag = literal[: literal.index("$", 1) + 1]
        return literal[len(tag) :].removesuffix(tag)
    quote = literal[:1]
    inner = literal[1:].removesuffix(quote) if len(literal) > 1 else ""
    if prefix == "E":
        return ESCAPE.sub(_unescaped, inner).replace("''", "'")
    inner = inner.replace(2 * quote, quote)
    if prefix == "U&" and escape:
        mark = re.escape(escape)
        codes = rf"{mark}(?:([0-9A-Fa-f]{{4}})|\+([0-9A-Fa-f]{{6}})|({mark}))"
        return re.sub(codes, lambda m: escape if m[3] else _letter(int(m[1] or m[2], 16)), inner)
    return inner


def _unescaped(match: re.Match[str]) -> str:
    octal, *others, letter = match.groups()
    if letter is not None:
        return " " if letter in "nrtbf\n" else letter
    return _letter(int(octal, 8) if octal else int(next(filter(None, others)), 16))


def _letter(number: int) -> str:
    return chr(number) if 31 < number < 0x110000 and not 0xD800 <= number < 0xE000 else " "


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
