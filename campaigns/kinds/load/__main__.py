"""The plain load program: one request, repeated by every virtual host.

Besides the fields of `job`: `method` (no HEAD), `headers` (pairs), `body`, `sender`, and `connect_first`
(true: connections are opened before the start). `{host}` in them, and in the URL's path, is replaced by the
host's number.
"""

from urllib.parse import urlsplit

from campaigns.kinds.load.generator import run_work
from campaigns.kinds.load.plain import Crew
from campaigns.kinds.programs import lifeline
from campaigns.kit.mappings import ProgramResult


def main(keeper: lifeline.Lifeline) -> ProgramResult:
    """Run the load of the request."""
    parts = urlsplit(keeper.request["url"])
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    request = {**keeper.request, "path": path}
    if request.get("method", "GET") in ("HEAD", "CONNECT"):
        raise ValueError(f"The method {request['method']} cannot be repeated; take another one.")
    return run_work(keeper, lambda part: Crew(part, request), one_request_a_host=True)


if __name__ == "__main__":
    lifeline.run(main)
