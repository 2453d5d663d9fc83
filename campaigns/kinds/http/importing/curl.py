"""Read curl commands, as browsers copy them (“copy as cURL”) and manuals print them. Pure; nothing is run."""

import re
from base64 import b64encode
from collections import deque
from collections.abc import Iterator
from urllib.parse import quote, urlsplit

from campaigns.kinds.http.importing.recorded import BadImport, Recorded, Recording, without_marks

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
ENDS = (";", "&&", "||", "|", "&", "\n", ">", ">>", "<")
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


def is_curl(text: str) -> bool:
    """Return whether a text begins with a command of curl."""
    first = next(
        (
            line
            for line in (each.strip() for each in text.splitlines())
            if line and not line.startswith("#")
        ),
        "",
    )
    return bool(re.match(r"(\$\s+)?curl(\.exe)?(\s|\Z)", first))


def read_curl(text: str) -> Recording:
    """Return the requests of commands, one after the other. Raise BadImport with the line."""
    requests = []
    for line, words in _commands(without_marks(text)):
        if words[:1] == ["$"]:
            words = words[1:]
        if not words or words[0] not in ("curl", "curl.exe"):
            what = words[0][:40] if words else ""
            raise BadImport(
                f"Line {line}: “{what}” is no curl command; leave only commands that begin with curl."
            )
        requests.append(_request(line, words[1:]))
        if len(requests) > MOST_COMMANDS:
            raise BadImport(f"There are more than {MOST_COMMANDS} commands; give fewer at once.")
    if not requests:
        raise BadImport("There is no curl command; paste lines that begin with curl.")
    return Recording("curl", requests)


def _request(line: int, words: list[str]) -> Recorded:
    method, url, login = "", "", ""
    headers: list[tuple[str, str]] = []
    data: list[str] = []
    as_query = is_json = False
    rest = deque(words)

    def value(option: str) -> str:
        if not rest:
            raise BadImport(f"Line {line}: {option} lacks its value.")
        return rest.popleft()

    while rest:
        word = rest.popleft()
        if (parts := _parts(word)) != [word]:
            rest.extendleft(reversed(parts))
            continue
        if not word.startswith("-") or word == "-":
            if url:
                raise BadImport(
                    f"Line {line}: there are two URLs, {_safe(url)} and {_safe(word)}; write a command for each."
                )
            url = word
        elif word in ("-X", "--request"):
            method = value(word).upper()
        elif word in ("-H", "--header"):
            name, colon, text = value(word).partition(":")
            if not colon:
                raise BadImport(f"Line {line}: the header “{name[:40]}” has no colon.")
            headers.append((name.strip(), text.strip()))
        elif word in DATA:
            data.append(_data(line, word, value(word)))
            is_json |= word == "--json"
        elif word in ("-u", "--user"):
            login = value(word)
        elif word in ("-b", "--cookie"):
            text = value(word)
            if "=" not in text:
                raise BadImport(
                    f"Line {line}: {word} reads cookies from a file; a scenario keeps those that answers set (cookies: keep, or round)."
                )
            headers.append(("Cookie", text))
        elif word in ("-G", "--get"):
            as_query = True
        elif word in ("-I", "--head"):
            method = "HEAD"
        elif word == "--url":
            url = value(word)
        elif word in ("-F", "--form", "-T", "--upload-file", "-K", "--config"):
            raise BadImport(
                f"Line {line}: {word} sends or reads files, which a scenario does not; take the command out."
            )
        elif word in WITH_VALUE:
            value(word)
        elif word not in FLAGS:
            raise BadImport(
                f"Line {line}: the option {word[:40]} is not known; take it out if the request needs it not."
            )
    if not url:
        raise BadImport(f"Line {line}: the command has no URL.")
    joined = ("" if is_json else "&").join(data)
    if as_query and joined:
        url, joined = f"{url}{'&' if '?' in url else '?'}{joined}", ""
    given = {name.lower(): text for name, text in headers}
    if login:
        headers.append(("Authorization", "Basic " + b64encode(login.encode()).decode()))
    type_ = given.get("content-type") or ("application/json" if is_json else FORMS if data else "")
    if is_json and "accept" not in given:
        headers.append(("Accept", "application/json"))
    return Recorded(
        method=method or ("POST" if data and not as_query else "GET"),
        url=_whole(line, url),
        headers=headers,
        body=joined,
        type=type_ if joined else "",
    )


def _whole(line: int, url: str) -> str:
    """Return a URL with its scheme."""
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
    """Yield line and words of each command, split as a shell does. What follows a pipe is left out."""
    words: list[str] = []
    line = 1
    skips = False
    for number, word, is_mark in _words(text):
        if not is_mark:
            if not words:
                line = number
            words.append(word)
            continue
        if word in REDIRECTIONS and words[-1:] in (["1"], ["2"]):
            words.pop()
        if words and not skips:
            yield line, words
        words = []
        skips = word in ("|", *REDIRECTIONS)
    if words and not skips:
        yield line, words


def _words(text: str) -> Iterator[tuple[int, str, bool]]:
    """Yield line, word, and whether it ends a command. Raise BadImport for a quote without an end."""
    at, line, size = 0, 1, len(text)
    word: list[str] | None = None
    begun = 1
    while at < size:
        letter = text[at]
        if letter == "\\":
            following = text[at + 1 : at + 2]
            at += 2
            if following == "\r":
                following, at = "\n", at + 1
            if following == "\n":
                line += 1
                continue
            word = [] if word is None else word
            word.append(following)
            continue
        if letter in "'\"" or text.startswith(("$'", '$"'), at):
            begun = line if word is None else begun
            inner, at, line = _quoted(text, at, line)
            word = [] if word is None else word
            word.append(inner)
            continue
        if letter == "#" and word is None:
            end = text.find("\n", at)
            at = size if end < 0 else end
            continue
        mark = next(
            (each for each in ("&&", "||", ">>", ">&", "&>", *ENDS) if text.startswith(each, at)),
            "",
        )
        if mark or letter.isspace():
            if word is not None:
                yield begun, "".join(word), False
                word = None
            if mark:
                yield line, mark, True
            line += letter == "\n"
            at += len(mark) or 1
            continue
        if word is None:
            word, begun = [], line
        end = at
        while end < size and text[end] not in "\\'\"$;&|<> \t\r\n":
            end += 1
        end = max(end, at + 1)
        word.append(text[at:end])
        at = end
    if word is not None:
        yield begun, "".join(word), False


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
    raise BadImport(
        f"Line {line}: a quote ({quote_mark}) has no end. Copy the command as cURL for bash, and paste all of it."
    )


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
