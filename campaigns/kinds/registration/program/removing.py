"""The program that deletes hosts by their identities: `python -m campaigns.kinds.registration.program.removing`."""

import asyncio
import ssl
from pathlib import Path

from campaigns.kinds.load import generator, tls
from campaigns.kinds.load.failures import LoadFailed
from campaigns.kinds.load.host import Host
from campaigns.kinds.programs.lifeline import Lifeline, run
from campaigns.kinds.registration.program.identities import Identity, stored_identities
from campaigns.kinds.registration.program.profiles import Auth, Step
from campaigns.kinds.registration.program.requests import Client, path_of
from campaigns.kit.mappings import ProgramRequest, ProgramResult

DELETE = Step("delete", "DELETE", "/consumers/{uuid}", Auth.CERTIFICATE, 1)
GONE = (404, 410)


class Remover:
    """Deletes the hosts whose identities a directory holds, `at_once` at a time."""

    def __init__(self, request: ProgramRequest) -> None:
        self.identities: list[Identity] = list(stored_identities(Path(request["directory"])))
        self.at_once = asyncio.Semaphore(request["at_once"])

    async def remove(self, host: Host) -> None:
        """Delete one host; one that is gone already is no failure. Raise LoadFailed."""
        async with self.at_once:
            request, identity = host.request, self.identities[host.number]
            host.columns["uuid"] = identity.uuid
            try:
                context = tls.identity_context(
                    identity.certificate, identity.key, request["ca"], insecure=request["insecure"]
                )
            except (ssl.SSLError, ValueError) as error:
                raise LoadFailed("tls", f"the certificate of {identity.name}: {error}") from None
            wire = await host.connect(context)
            client = Client(
                identity.version, identity.name, host.place.host_header, request["place"]
            )
            path = path_of(DELETE, {"uuid": identity.uuid})
            data = client.subscription(DELETE, path, b"", reused=False)
            await host.step(DELETE.name, wire, data, accepted=GONE)


def main(lifeline: Lifeline) -> ProgramResult:
    """Delete the hosts, and return the result of a load program."""
    return generator.run(lifeline, Remover(lifeline.request).remove)


if __name__ == "__main__":
    run(main)
