"""Read curl commands, as browsers copy them (“copy as cURL”) and manuals print them. Pure; nothing is run."""

import re
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

from campaigns.kinds.http.importing.documents import is_json
from campaigns.kinds.http.importing.looks import describes
from campaigns.kinds.http.importing.recorded import (
    BadImport,
    Recorded,
    Recording,
    some_of,
    without_marks,
)

BEGINS = re.compile(
    r"[ \t]*(?:[^\s'\"|;&][^\n'\"|;&]{0,60}?[$#>%][ \t]*|[$>%][ \t]+)?(?P<curl>curl(?:\.exe)?)(?=\s|\Z)"
)
"""A line that begins with curl, or with the prompt of a shell before it."""
LINE = re.compile(r"(?m)^(?:[$>] )?curl(?:\.exe)?[ \t]+\S")
ESCAPED_THERE = ('"', "\r", "\n", "^", "\\", "")
"""Before what ^ stands in the cmd of Windows; outside of quotes, no command of bash has it there."""
FLAGS = frozenset({
    "--compressed", "-k", "--insecure", "-s", "--silent", "-S", "--show-error", "-v", "--verbose", "-i", "--include", "-L",
    "--location", "-f", "--fail", "--fail-with-body", "-g", "--globoff", "-N", "--no-buffer", "-#", "--progress-bar", "--http1.1",
    "--http2", "--http1.0", "--http2-prior-knowledge", "-4", "--ipv4", "-6", "--ipv6", "-O", "--remote-name", "--tr-encoding",
    "--path-as-is", "-J", "--remote-header-name", "-q", "--disable", "--no-keepalive", "--basic",
})  # fmt: skip
"""Options without a value that change nothing that a scenario says."""
WITH_VALUE = frozenset({
    "-o", "--output", "-w", "--write-out", "-m", "--max-time", "--connect-timeout", "--retry", "--retry-delay", "-A",
    "--user-agent", "-e", "--referer", "--cacert", "-E", "--cert", "--key", "-x", "--proxy", "--resolve", "--max-redirs",
    "-c", "--cookie-jar", "--retry-max-time", "-D", "--dump-header", "--limit-rate", "--noproxy", "--interface",
})  # fmt: skip
"""Options with a value that perfdash decides itself, or that are the target's."""
DATA = frozenset(
    {"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--json"}
)
FORMS = "application/x-www-form-urlencoded"
REDIRECTIONS = (">", ">>", ">&", "&>", "<")
MARKS = ("&&", "||", ">>", ">&", "&>", ";", "|", "&", "\n", ">", "<")
"""What ends a word and a command; longer ones first."""
OPEN = ("{", "[", ",", ":")
"""What a quoted JSON ends with before a quote of cmd, which is written twice."""
LETTERS_WITH_VALUE = "XHdubAeomwFTKxcDE"
MOST_COMMANDS = 500
ESCAPES = {
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "e": "\x1b",
    "?": "?",
}
CODE = re.compile(r"u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|x([0-9a-fA-F]{1,2})|([0-7]{1,3})")


class Unfinished(BadImport):
    """The text ends within a command."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}. Copy the command as cURL for bash, and paste all of it.")


class OfWindows(BadImport):
    """A command is written for a shell of Windows, whose quotes are others."""

    def __init__(self, line: int, shell: str = "cmd") -> None:
        super().__init__(
            f"Line {line:,}: the command is in the form for Windows ({shell}). Choose “Copy as cURL (bash)” in the browser, and "
            "paste that."
        )


def is_curl(text: str) -> bool:
    """Return whether a text has a line that begins with a command of curl, and is no document that holds one."""
    first = next(
        (
            line
            for line in (each.strip() for each in text.splitlines())
            if line and not line.startswith("#")
        ),
        "",
    )
    if BEGINS.match(first):
        return True
    return not is_json(text) and not describes(text) and bool(LINE.search(text))


def read_curl(text: str) -> Recording:
    """Return the requests of commands, one after the other. Raise BadImport with the line."""
    requests: list[Recorded] = []
    broken: list[str] = []
    try:
        for line, words in _commands(without_marks(text)):
            try:
                requests.append(_request(line, words))
            except BadImport as wrong:
                broken.append(str(wrong))
            if len(requests) > MOST_COMMANDS:
                raise BadImport(
                    f"There are more than {MOST_COMMANDS} commands; give fewer at once."
                )
    except Unfinished as wrong:  # the others before it are whole
        broken.append(str(wrong))
    if not requests:
        raise BadImport(
            some_of(broken)
            if broken
            else "There is no curl command; paste lines that begin with curl."
        )
    return Recording("curl", requests, [some_of(broken)] if broken else [])


def _request(line: int, words: list[str]) -> Recorded:
    """Return the request of a command. Raise BadImport."""
    if words[0] not in ("curl", "curl.exe"):
        raise BadImport(
            f"Line {line:,}: “{words[0][:40]}” is no curl command; leave only commands that begin with curl."
        )
    command = _Command(line, deque(words[1:]))
    command.read()
    return command.request


@dataclass(slots=True)
class _Command:
    """What the words of a command have said so far; rest: those that are still to be read."""

    line: int
    rest: deque[str]
    method: str = ""
    url: str = ""
    login: str = ""
    headers: list[tuple[str, str]] = field(default_factory=list)
    data: list[str] = field(default_factory=list)
    as_query: bool = False
    is_json: bool = False

    def read(self) -> None:
        """Read all words. Raise BadImport."""
        while self.rest:
            word = self.rest.popleft()
            if (parts := _parts(word)) != [word]:
                self.rest.extendleft(reversed(parts))
            elif not word.startswith("-") or word == "-":
                self._take_url(word)
            elif word in DATA:
                self.data.append(_data(self.line, word, self._value(word)))
                self.is_json |= word == "--json"
            elif word in SAID:
                SAID[word](self, word)
            elif word in WITH_VALUE:
                self._value(word)
            elif word not in FLAGS:
                raise BadImport(
                    f"Line {self.line}: the option {word[:40]} is not known; take it out if the request needs it not."
                )

    @property
    def request(self) -> Recorded:
        """The request. Raise BadImport without a URL."""
        if not self.url:
            raise BadImport(f"Line {self.line}: the command has no URL.")
        url, joined = self.url, ("" if self.is_json else "&").join(self.data)
        if self.as_query and joined:
            url, joined = f"{url}{'&' if '?' in url else '?'}{joined}", ""
        return Recorded(
            method=self.method or ("POST" if self.data and not self.as_query else "GET"),
            url=_whole(self.line, url),
            headers=[*self.headers, *self._added()],
            body=joined,
            type=self._type() if joined else "",
        )

    def _added(self) -> Iterator[tuple[str, str]]:
        """Yield the headers that curl adds by itself."""
        if self.login:
            yield "Authorization", "Basic " + b64encode(self.login.encode()).decode()
        if self.is_json and "accept" not in self._given():
            yield "Accept", "application/json"

    def _type(self) -> str:
        usual = "application/json" if self.is_json else FORMS
        return self._given().get("content-type") or (usual if self.data else "")

    def _given(self) -> dict[str, str]:
        return {name.lower(): text for name, text in self.headers}

    def _value(self, option: str) -> str:
        if not self.rest:
            raise BadImport(f"Line {self.line}: {option} lacks its value.")
        return self.rest.popleft()

    def _take_url(self, url: str) -> None:
        if self.url:
            raise BadImport(
                f"Line {self.line}: there are two URLs, {_safe(self.url)} and {_safe(url)}; write a command for each."
            )
        self.url = url

    def _take_named_url(self, option: str) -> None:
        self.url = self._value(option)

    def _take_method(self, option: str) -> None:
        self.method = self._value(option).upper()

    def _take_head(self, _: str) -> None:
        self.method = "HEAD"

    def _take_query(self, _: str) -> None:
        self.as_query = True

    def _take_login(self, option: str) -> None:
        self.login = self._value(option)

    def _take_header(self, option: str) -> None:
        name, colon, text = self._value(option).partition(":")
        if not colon:
            raise BadImport(f"Line {self.line}: the header “{name[:40]}” has no colon.")
        self.headers.append((name.strip(), text.strip()))

    def _take_cookies(self, option: str) -> None:
        text = self._value(option)
        if "=" not in text:
            raise BadImport(
                f"Line {self.line}: {option} reads cookies from a file; a scenario keeps those that answers set (cookies: keep, or round)."
            )
        self.headers.append(("Cookie", text))

    def _refuse_files(self, option: str) -> None:
        raise BadImport(
            f"Line {self.line}: {option} sends or reads files, which a scenario does not; take the command out."
        )


SAID: Mapping[str, Callable[[_Command, str], None]] = {
    **dict.fromkeys(("-X", "--request"), _Command._take_method),
    **dict.fromkeys(("-H", "--header"), _Command._take_header),
    **dict.fromkeys(("-u", "--user"), _Command._take_login),
    **dict.fromkeys(("-b", "--cookie"), _Command._take_cookies),
    **dict.fromkeys(("-G", "--get"), _Command._take_query),
    **dict.fromkeys(("-I", "--head"), _Command._take_head),
    "--url": _Command._take_named_url,
    **dict.fromkeys(
        ("-F", "--form", "-T", "--upload-file", "-K", "--config"), _Command._refuse_files
    ),
}
"""What an option says of the request."""


def _whole(line: int, url: str) -> str:
    """Return a URL with its scheme."""
    if re.search(r"\s", url):
        raise BadImport(
            f"Line {line}: the URL “{_safe(url).split()[0]}” holds a blank or a line end; look at the quotes around it."
        )
    if "://" not in url:
        url = f"http://{url}"
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadImport(f"Line {line}: “{_safe(url)}” is no URL of HTTP.")
    return quote(url, safe="/?&=%:@!$'()*+,;~-._[]#")


def _data(line: int, option: str, text: str) -> str:
    if text.startswith("@") and option != "--data-raw":
        raise BadImport(f"Line {line}: {option} {text[:60]} reads a file; paste what it holds.")
    if option == "--data-urlencode":
        name, equals, value = text.partition("=")
        if not equals and "@" in text:
            raise BadImport(f"Line {line}: {option} {text[:60]} reads a file; paste what it holds.")
        return (
            f"{name}={quote(value, safe='')}"
            if equals and name
            else quote(value if equals else text, safe="")
        )
    return text


def _parts(word: str) -> list[str]:
    """Return an option apart from its value: `--request=PUT` and `-XPUT` are two words each; `-sS` is two options, `-sXPUT` two and a value."""
    long, equals, value = word.partition("=")
    if word.startswith("--"):
        return [long, value] if equals and long != "--" else [word]
    if not re.match(r"-[a-zA-Z#0-9].", word):
        return [word]
    flags: list[str] = []
    for place, letter in enumerate(word[1:], 2):
        flags.append(f"-{letter}")
        if letter in LETTERS_WITH_VALUE:
            return [*flags, word[place:]] if word[place:] else flags
    return flags


def _safe(url: str) -> str:
    """Return what may be shown of a URL: no query and no login."""
    return re.sub(r"//[^/@]*@", "//", url.partition("?")[0])[:80]


def _commands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line and words of each command, split as a shell does. What follows a pipe is left out.

    A line between the commands that is none is one word: its quotes, as in “Here's how:”, open nothing.
    """
    at, line = 0, 1
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        first = text[at:end].strip()
        begin = BEGINS.match(text, at)
        if begin and not first.startswith("#"):
            at, following, commands = _split(text, begin.start("curl"), line)
            yield from commands
            line = following
            continue
        if first.startswith("-"):
            raise BadImport(
                f"Line {line:,} begins with an option, “{first[:40]}”, and belongs to the command before, whose line does not end "
                "with \\. Copy the command once more, as cURL for bash."
            )
        if first and not first.startswith("#"):
            yield line, [first]
        at, line = end + 1, line + 1


def _split(text: str, at: int, line: int) -> tuple[int, int, list[tuple[int, list[str]]]]:
    """Return where the line of a command ends, the number of the line after it, and the commands of it."""
    commands: list[tuple[int, list[str]]] = []
    words: list[str] = []
    begun = line
    skips = False
    for number, word, is_mark, after in _Shell(text, at, line).words():
        line = number
        if not is_mark:
            if not words:
                begun = number
            words.append(word)
            continue
        if word in REDIRECTIONS and words[-1:] in (["1"], ["2"]):
            words.pop()
        if words and not skips:
            commands.append((begun, words))
        words = []
        skips = word in ("|", *REDIRECTIONS)
        if word == "\n":
            return after, number + 1, commands
    if words and not skips:
        commands.append((begun, words))
    return len(text), line + 1, commands


@dataclass(slots=True)
class _Shell:
    """Splits a text from a place on, as a shell does. word: what has been read of a word that began in the line `begun`; None between words."""

    text: str
    at: int
    line: int
    begun: int = 0
    word: list[str] | None = None

    def words(self) -> Iterator[tuple[int, str, bool, int]]:
        """Yield line, word, whether it ends a command, and where it ends. Raise BadImport for a quote without an end."""
        text = self.text
        while self.at < len(text):
            letter = text[self.at]
            if letter == "\\":
                self._take_escaped()
            elif letter in "'\"" or text.startswith(("$'", '$"'), self.at):
                self._take_quoted(letter)
            elif letter == "#" and self.word is None:
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif (mark := self._mark()) or letter.isspace():
                yield from self._ended()
                if mark:
                    yield self.line, mark, True, self.at + len(mark)
                self.line += letter == "\n"
                self.at += len(mark) or 1
            else:
                self._take_plain()
        yield from self._ended()

    def _mark(self) -> str:
        """Return what stands here and ends a word; empty where nothing does, or a blank."""
        return next((each for each in MARKS if self.text.startswith(each, self.at)), "")

    def _ended(self) -> Iterator[tuple[int, str, bool, int]]:
        if self.word is not None:
            yield self.begun, "".join(self.word), False, self.at
            self.word = None

    def _take(self, part: str) -> None:
        """Add a part to the word, which may begin with it."""
        if self.word is None:
            self.word, self.begun = [], self.line
        self.word.append(part)

    def _take_escaped(self) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        if not self.text[self.at + 1 :].strip():
            raise Unfinished(f"Line {self.line:,} ends with \\, and nothing follows")
        self.at += 2
        if following == "\r":
            following, self.at = "\n", self.at + 1
        if following == "\n":
            self.line += 1
        else:
            self._take(following)

    def _take_quoted(self, letter: str) -> None:
        inner, self.at, end = _quoted(self.text, self.at, self.line)
        if letter == '"' and self.text[self.at : self.at + 1] == '"' and inner.endswith(OPEN):
            raise OfWindows(end)  # "{""a"":1}"
        self._take(inner)
        self.line = end

    def _take_plain(self) -> None:
        text, end = self.text, self.at
        while end < len(text) and text[end] not in "\\'\"$;&|<> \t\r\n":
            end += 1
        end = max(end, self.at + 1)
        if text[end - 1] == "^" and text[end : end + 1] in ESCAPED_THERE:
            raise OfWindows(self.line)
        if text[end - 1] == "`" and text[end : end + 1] in ("\r", "\n"):
            raise OfWindows(self.line, "PowerShell")
        self._take(text[self.at : end])
        self.at = end


def _quoted(text: str, at: int, line: int) -> tuple[str, int, int]:
    """Return a quoted text, where it ends, and the line there."""
    escaped = text[at] == "$"
    begin = at + escaped
    quote_mark = text[begin]
    ansi = escaped and quote_mark == "'"
    result: list[str] = []
    at = begin + 1
    while at < len(text):
        letter = text[at]
        if letter == quote_mark:
            whole = "".join(result)
            return whole, at + 1, line + text.count("\n", begin, at)
        if letter == "\\" and ansi:
            inner, used = _escape(text, at + 1)
            result.append(inner)
            at += 1 + used
        elif (
            letter == "\\"
            and quote_mark == '"'
            and text[at + 1 : at + 2] in ('"', "\\", "$", "`", "\n")
        ):
            if text[at + 1] != "\n":
                result.append(text[at + 1])
            at += 2
        else:
            end = at + 1
            while end < len(text) and text[end] not in "\\'\"":
                end += 1
            result.append(text[at:end])
            at = end
    raise Unfinished(f"Line {line}: a quote ({quote_mark}) has no end")


def _escape(text: str, at: int) -> tuple[str, int]:
    """Return what an escape of $'…' stands for, and its length."""
    if match := CODE.match(text, at):
        digits = next(each for each in match.groups() if each)
        number = int(digits, 8 if match[4] else 16)
        if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
            number = 0xFFFD
        return chr(number), len(match[0])
    letter = text[at : at + 1]
    return ESCAPES.get(letter, f"\\{letter}"), len(letter)
