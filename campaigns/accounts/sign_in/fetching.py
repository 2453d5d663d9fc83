"""Requests to the OpenID Connect provider, with one deadline for the whole exchange and bounded memory.

It replaces the `requests` session of django-allauth, whose time limit restarts with each byte: a slow provider
could occupy a thread of the web server forever. No user can give an address here: they are the provider's of the settings, so the rules
of where perfdash may connect do not apply, and proxies of the environment do.
"""

import asyncio
from typing import Any

import aiohttp
import requests

from campaigns.accounts.single_sign_on import ours
from campaigns.kit.mappings import JsonObject

MOST_BYTES = 1_000_000


class Fetching:
    """Sends HTTP requests. All errors are requests.RequestException, which django-allauth handles."""

    def __enter__(self) -> "Fetching":
        return self

    def __exit__(self, *raised: object) -> None:
        pass

    def get(self, url: str, **named: Any) -> requests.Response:
        """Send a GET."""
        return self.request("GET", url, **named)

    def request(
        self, method: str, url: str, *, auth: Any = None, **named: Any
    ) -> requests.Response:
        """Send a request. `auth`: that of requests, with name and password."""
        if auth is not None:
            named["auth"] = aiohttp.BasicAuth(auth.username, auth.password)
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(_ask(method, url, named))
        except TimeoutError:
            raise requests.Timeout(f"no answer within {ours().seconds:g} s") from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise requests.ConnectionError(str(error)) from error
        finally:
            loop.close()


async def _ask(method: str, url: str, named: JsonObject) -> requests.Response:
    wanted = {name: value for name, value in named.items() if value is not None}
    limit = aiohttp.ClientTimeout(total=ours().seconds)
    async with (
        aiohttp.ClientSession(timeout=limit, trust_env=True) as session,
        session.request(method, url, allow_redirects=False, **wanted) as answer,
    ):
        if answer.status in range(300, 400):
            raise ValueError(f"a redirection ({answer.status}), which is not followed")
        body = bytearray()
        async for chunk in answer.content.iter_chunked(65536):
            body += chunk
            if len(body) > MOST_BYTES:
                raise ValueError(f"an answer of more than {MOST_BYTES:,} bytes")
        return _as_response(url, answer, bytes(body))


def _as_response(url: str, answer: aiohttp.ClientResponse, body: bytes) -> requests.Response:
    response = requests.Response()
    response.status_code = answer.status
    response.url = url
    response.headers.update({"content-type": "", **answer.headers})
    response.encoding = "utf-8"
    response._content = body
    return response
