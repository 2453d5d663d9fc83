"""An OpenID Connect provider for tests: django-oauth-toolkit, in a process of its own, on loopback.

Discovery, authorization code with PKCE (which it demands), RS256, user-info: all as the toolkit does it.
Whose name begins with `bad-` gets an ID token that was tampered with in the way that the name says.
`python -m campaigns.tests.accounts.oidc_server PORT REDIRECT_URI...`
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import partial
from signal import SIGTERM
from time import monotonic, sleep

import requests

from campaigns.kit import kernel

CLIENT, SECRET, PASSWORD = "perfdash", "the secret of the client", "known there"
PEOPLE = {
    "anna": {"email": "anna@example.org", "email_verified": True},
    "bert": {"email": "bert@example.org", "email_verified": False},
    "carla": {},
    "quiet": {"email": "quiet@example.org", "email_verified": True},
    "liar": {"email": "liar@example.org", "email_verified": True},
    **{
        f"bad-{way}": {"email": "bad@example.org", "email_verified": True}
        for way in (
            *("nonce", "no-nonce", "issuer", "audience", "party", "expired", "key"),
            *("unsigned", "shared-secret", "subject", "missing"),
        )
    },
}
"""`quiet` and `liar` have their address in the user-info only; that of `liar` is somebody else's."""
LOGIN = """<link rel="icon" href="data:,"><form method="post">{% csrf_token %}{{ form.username }}{{ form.password }}
<input type="hidden" name="next" value="{{ next }}"><button>Log in there</button></form>"""


class Running:
    """A provider that runs: where, and its process."""

    def __init__(self, port, process):
        self.issuer, self.process = f"http://127.0.0.1:{port}/o", process


@contextmanager
def running(port, *redirect_uris):
    """Start one, wait until it answers, end it."""
    program = [
        sys.executable,
        "-m",
        "campaigns.tests.accounts.oidc_server",
        str(port),
        *redirect_uris,
    ]
    process = subprocess.Popen(
        program,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=partial(kernel.die_with_parent, os.getpid(), SIGTERM),
    )
    found = Running(port, process)
    try:
        end = monotonic() + 60
        while True:
            try:
                requests.get(f"{found.issuer}/.well-known/openid-configuration", timeout=5)
                break
            except requests.ConnectionError:
                assert process.poll() is None, process.communicate()[1].decode()
                assert monotonic() < end
                sleep(0.05)
        yield found
    finally:
        process.terminate()
        process.communicate(timeout=10)


def configure(directory):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa
    from django.conf import settings

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    settings.configure(
        SECRET_KEY="of the provider",  # noqa: S106
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "oauth2_provider",
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.middleware.csrf.CsrfViewMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
        ],
        TEMPLATES=[
            {
                "BACKEND": "django.template.backends.django.DjangoTemplates",
                "OPTIONS": {
                    "loaders": [
                        (
                            "django.template.loaders.locmem.Loader",
                            {"registration/login.html": LOGIN},
                        )
                    ],
                },
            }
        ],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.sqlite3",
                "NAME": os.path.join(directory, "provider.sqlite3"),
            }
        },
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        SESSION_COOKIE_NAME="provider_session",  # the browser sees the same host, other port
        CSRF_COOKIE_NAME="provider_csrf",
        LOGIN_URL="/login/",
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        OAUTH2_PROVIDER={
            "OIDC_ENABLED": True,
            "OIDC_RSA_PRIVATE_KEY": key.decode(),
            "OAUTH2_VALIDATOR_CLASS": "campaigns.tests.accounts.oidc_tampering.Validator",
            "SCOPES": {"openid": "who", "profile": "name", "email": "address"},
        },
    )


def fill(redirect_uris):
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from oauth2_provider.models import Application

    call_command("migrate", verbosity=0)
    for name, claims in PEOPLE.items():
        User.objects.create_user(name, password=PASSWORD, first_name=json.dumps(claims))
    Application.objects.create(
        client_id=CLIENT,
        client_secret=SECRET,
        client_type=Application.CLIENT_CONFIDENTIAL,
        authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
        redirect_uris=" ".join(redirect_uris),
        algorithm=Application.RS256_ALGORITHM,
        skip_authorization=True,
    )


def serve(port):
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    from django.core.wsgi import get_wsgi_application

    class Threaded(ThreadingMixIn, WSGIServer):
        daemon_threads = True

    class Silent(WSGIRequestHandler):
        def log_message(self, *arguments):
            pass

    make_server("127.0.0.1", port, get_wsgi_application(), Threaded, Silent).serve_forever()


def main():
    import django

    with tempfile.TemporaryDirectory() as directory:
        configure(directory)
        django.setup()
        fill(sys.argv[2:])
        serve(int(sys.argv[1]))


def __getattr__(name):
    """The URLs, once Django is configured; a test that imports this module has another one."""
    if name != "urlpatterns":
        raise AttributeError(name)
    from django.contrib.auth.views import LoginView
    from django.urls import include, path
    from oauth2_provider import urls

    return [path("login/", LoginView.as_view()), path("o/", include(urls))]


if __name__ == "__main__":
    sys.modules["campaigns.tests.accounts.oidc_server"] = sys.modules[__name__]
    main()
