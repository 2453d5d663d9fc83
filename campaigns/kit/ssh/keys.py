"""Read SSH keys. asyncssh is imported by each function: few processes need its memory."""


def fingerprint_of(host_key: str) -> str:
    """Return the fingerprint SHA256:... of a line of OpenSSH; empty for an invalid line."""
    import asyncssh

    try:
        return str(asyncssh.import_public_key(host_key).get_fingerprint())
    except (asyncssh.KeyImportError, ValueError):
        return ""


def wrong_key(text: str) -> str:
    """Return the error of a private key; empty where it can be used."""
    import asyncssh

    try:
        asyncssh.import_private_key(text)
    except asyncssh.KeyEncryptionError:
        return "The key has a passphrase; give one without."
    except (asyncssh.KeyImportError, ValueError) as error:
        return f"This is no private key that can be read ({error})."
    return ""
