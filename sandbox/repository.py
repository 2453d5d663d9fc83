"""One repository: turns a file or the manifest into an answer. Pure: no network, no clock."""

from http import HTTPStatus

from sandbox.answers import TEXT, Answer, Ending, head, text
from sandbox.bodies import EndlessBody, FileBody, WholeBody
from sandbox.faults import Draw, Fault, jitter_share
from sandbox.grammar import Settings, path
from sandbox.manifest import NAME, PAGE, Kind
from sandbox.tallies import Tally

_BINARY = "application/octet-stream"
_MANIFEST_INDEX = -1
_ENDINGS = {
    Fault.STALL: Ending.STALL,
    Fault.RESET: Ending.RESET,
    Fault.TRUNCATED: Ending.TRUNCATED,
}


class Repository:
    """What stands under one path.

    path: as it was asked, decoded, without name. tallies: those that count its requests, with
    its own, `tally`.
    """

    def __init__(
        self, scheme: str, pairs: list[tuple[str, str]], settings: Settings, path: str
    ) -> None:
        self.path = path
        self.settings = settings
        self.content = settings.content
        self.tally = Tally()
        self.tallies: tuple[Tally, ...] = (self.tally,)
        self.tries_matter = settings.jitter > 0 or settings.shares.get(Fault.FLAKY, 0) > 0
        self._scheme = scheme
        self._pairs = pairs
        self._draw = Draw(settings.shares, self.content.files, self.content.seed)

    def full(self) -> bool:
        """Say whether as many answers are under way as `connections` allows."""
        limit = self.settings.connections
        return limit > 0 and self.tally.in_flight >= limit

    def file(self, index: int, attempt: int) -> Answer:
        """Answer with a file, or with its fault. The first attempt is 0."""
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
            body = self.content.body(index)
            if fault is Fault.CORRUPT:
                body = body.corrupted()
            elif fault is Fault.LONGER:
                body = FileBody(body.prefix, body.tail + b"!")
            answer = Answer(HTTPStatus.OK, head(200, body.length, _BINARY), body)
            if fault is not None:
                answer.ending = _ENDINGS.get(fault, Ending.WHOLE)
        return self._paced(answer, index, attempt)

    def manifest(self, written: bytes) -> Answer:
        """Answer with the manifest, or with what is wrong with it."""
        kind = self.settings.manifest
        if kind is Kind.MISSING:
            answer = text(HTTPStatus.NOT_FOUND, "missing on purpose (manifest=missing)\n")
        elif kind is Kind.ERROR:
            answer = text(HTTPStatus.INTERNAL_SERVER_ERROR, "failed on purpose (manifest=error)\n")
        elif kind is Kind.REDIRECT:
            answer = self._redirect(NAME)
        elif kind is Kind.ENDLESS:
            endless = EndlessBody(written)
            answer = Answer(HTTPStatus.OK, head(200, None, TEXT), endless, close=True)
        else:
            body = WholeBody(written)
            answer = Answer(HTTPStatus.OK, head(200, body.length, TEXT), body)
            answer.silent = kind is Kind.HANG
            if kind is Kind.RESET:
                answer.ending = Ending.RESET
        return self._paced(answer, _MANIFEST_INDEX, 0)

    def unknown(self, name: str) -> Answer:
        """Say that there is no such file, and what there is."""
        files = self.content.files
        last = f", {self.content.name(0)!r} to {self.content.name(files - 1)!r}" if files else ""
        return text(
            HTTPStatus.NOT_FOUND, f"no file {name[:80]!r} in {self.path}: expected {NAME}{last}\n"
        )

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
        kept = [
            (key, value)
            for key, value in self._pairs
            if key not in (Fault.REDIRECT, "to") and (key, value) != ("manifest", Kind.REDIRECT)
        ]
        location = f"{self._scheme}://{self.settings.to}{path(kept, name)}"
        return text(HTTPStatus.FOUND, f"see {location}\n", f"Location: {location}")
