"""One repository: turns a file or a document into an answer. Pure: no network, no clock."""

from collections.abc import Callable
from http import HTTPStatus

from sandbox.answers import TEXT, Answer, Ending, head, text
from sandbox.bodies import EndlessBody, FileBody, WholeBody
from sandbox.content import Content
from sandbox.faults import Draw, Fault, jitter_share
from sandbox.grammar import path
from sandbox.manifest import NAME, PAGE, Kind
from sandbox.settings import Feed, Settings
from sandbox.tallies import Tally

_BINARY = "application/octet-stream"
_TYPES = {
    ".rpm": "application/x-rpm",
    ".xml": "text/xml",
    ".gz": "application/gzip",
    ".xz": "application/x-xz",
    ".zst": "application/zstd",
}
_ENDINGS = {
    Fault.STALL: Ending.STALL,
    Fault.RESET: Ending.RESET,
    Fault.TRUNCATED: Ending.TRUNCATED,
}


def _document_of(settings: Settings) -> str:
    """Give the document that `manifest` is about."""
    if isinstance(settings.content, Content):
        return NAME
    return settings.part.packed(settings.content.packing)


class Repository:
    """What stands under one path.

    path: as it was asked, decoded, without name. tallies: those that count its requests, with
    its own, `tally`.
    """

    def __init__(
        self,
        scheme: str,
        feed: Feed,
        pairs: list[tuple[str, str]],
        settings: Settings,
        path: str,
    ) -> None:
        self.path = path
        self.feed = feed
        self.settings = settings
        self.content = settings.content
        self.tally = Tally()
        self.tallies: tuple[Tally, ...] = (self.tally,)
        self.tries_matter = settings.jitter > 0 or settings.shares.get(Fault.FLAKY, 0) > 0
        self.documents = settings.documents
        self._wrong_document = _document_of(settings)
        self._type = _BINARY if feed is Feed.FILE else _TYPES[".rpm"]
        self._scheme = scheme
        self._pairs = pairs
        self._draw = Draw(settings.shares, self.content.files, self.content.seed)

    def full(self) -> bool:
        """Say whether as many answers are under way as `connections` allows."""
        limit = self.settings.connections
        return limit > 0 and self.tally.in_flight >= limit

    def file(self, index: int, attempt: int, bodies: Callable[[int], FileBody]) -> Answer:
        """Answer with a file, or with its fault. The first attempt is 0; `bodies` gives the bytes."""
        fault = self._draw.fault(index)
        if fault is Fault.MISSING:
            answer = text(HTTPStatus.NOT_FOUND, "missing on purpose (missing=...)\n")
        elif fault is Fault.ERROR or (fault is Fault.FLAKY and attempt == 0):
            answer = text(HTTPStatus.INTERNAL_SERVER_ERROR, f"failed on purpose ({fault}=...)\n")
        elif fault is Fault.REDIRECT:
            answer = self._redirect(self.content.name(index))
        elif fault is Fault.PAGE:
            answer = text(HTTPStatus.OK, PAGE, content_type="text/html")
        else:
            body = bodies(index)
            if fault is Fault.CORRUPT:
                body = body.corrupted()
            elif fault is Fault.LONGER:
                body = body.longer()
            answer = Answer(HTTPStatus.OK, head(200, body.length, self._type), body)
            if fault is not None:
                answer.ending = _ENDINGS.get(fault, Ending.WHOLE)
        return self._paced(answer, index, attempt)

    def document(self, name: str, written: bytes) -> Answer:
        """Answer with the manifest or a file of the repodata, or with what is wrong with it."""
        kind = self.settings.manifest if name == self._wrong_document else Kind.OK
        content_type = TEXT if self.feed is Feed.FILE else _TYPES[name[name.rindex(".") :]]
        if kind is Kind.MISSING:
            answer = text(HTTPStatus.NOT_FOUND, "missing on purpose (manifest=missing)\n")
        elif kind is Kind.ERROR:
            answer = text(HTTPStatus.INTERNAL_SERVER_ERROR, "failed on purpose (manifest=error)\n")
        elif kind is Kind.REDIRECT:
            answer = self._redirect(name)
        elif kind is Kind.ENDLESS:
            endless = EndlessBody(written)
            answer = Answer(HTTPStatus.OK, head(200, None, content_type), endless, close=True)
        else:
            body = WholeBody(written)
            answer = Answer(HTTPStatus.OK, head(200, body.length, content_type), body)
            answer.silent = kind is Kind.HANG
            if kind is Kind.RESET:
                answer.ending = Ending.RESET
        return self._paced(answer, -1 - self.documents.index(name), 0)

    def unknown(self, name: str) -> Answer:
        """Say that there is no such file, and what there is."""
        files = self.content.files
        last = f", {self.content.name(0)!r} to {self.content.name(files - 1)!r}" if files else ""
        expected = ", ".join(self.documents) + last
        sentence = f"no file {name[:80]!r} in {self.path}: expected {expected}\n"
        return self._paced(text(HTTPStatus.NOT_FOUND, sentence), -1 - len(self.documents), 0)

    def _paced(self, answer: Answer, index: int, attempt: int) -> Answer:
        settings = self.settings
        answer.delay = settings.latency
        if settings.jitter:
            answer.delay += settings.jitter * jitter_share(self.content.seed, index, attempt)
        answer.bandwidth = settings.bandwidth
        answer.stall = settings.stall
        return answer

    def _redirect(self, name: str) -> Answer:
        """Lead to the same name at `to`, in a repository that does not redirect again."""
        left = {Fault.REDIRECT, "to"}
        if self.settings.manifest is Kind.REDIRECT:
            left |= {"manifest", "part"}
        remaining = [(key, value) for key, value in self._pairs if key not in left]
        location = f"{self._scheme}://{self.settings.to}{path(remaining, name, self.feed)}"
        return text(HTTPStatus.FOUND, f"see {location}\n", f"Location: {location}")
