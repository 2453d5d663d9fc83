"""Options of TLS for connections to a PostgreSQL, as libpq takes them. No Django."""

import os
import ssl
from pathlib import Path

from campaigns.kit.http.credentials import Tls

AUTOMATIC = "automatic"
"""The mode that the certificates of the target choose."""


def tls_options(tls: Tls, wanted: str, directory: Path) -> dict[str, str]:
    """Return the options of TLS, whose files are written below `directory`."""
    mode = wanted
    if mode == AUTOMATIC:
        mode = "verify-full" if tls.verify and tls.ca_bundle else "require" if tls.certificate or tls.ca_bundle else "prefer"  # fmt: skip
    options = {"sslmode": mode}
    files = {
        "sslrootcert": tls.ca_bundle if mode == "verify-full" else "",
        "sslcert": tls.certificate,
        "sslkey": tls.key,
    }
    for name, text in files.items():
        path = directory / name
        path.unlink(missing_ok=True)
        if text and mode != "disable":
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write(text)
            options[name] = str(path)
        else:
            options[name] = str(directory / "none")  # never a file of the user who runs this
    if mode == "verify-full" and not tls.ca_bundle:
        options["sslrootcert"] = ssl.get_default_verify_paths().cafile or options["sslrootcert"]
    return options
