"""Static files of a server: hashed, compressed, kept by browsers for ever; Plotly is the small bundle."""

import hashlib
import re
from importlib.metadata import version
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import staticfiles_storage
from django.core.files.storage import FileSystemStorage
from django.http import HttpResponseNotFound
from django.test import RequestFactory
from plotly.offline import get_plotlyjs, get_plotlyjs_version
from whitenoise.middleware import WhiteNoiseMiddleware

from perfdash import static_files

PLOTLY = "vendor/plotly/plotly-basic.min.js"


class OneDirectory(finders.BaseFinder):
    """The files of one directory."""

    def __init__(self, place):
        self.storage = FileSystemStorage(location=place)

    def list(self, ignore_patterns):
        for path in sorted(Path(self.storage.location).iterdir()):
            yield path.name, self.storage


@pytest.fixture
def source(tmp_path, settings, monkeypatch):
    """A directory with one script, which is all that there is to be collected."""
    place = tmp_path / "source"
    place.mkdir()
    (place / "some.js").write_text("const some = 1;\n" * 200)
    (place / "some.js.map").write_text("{}" * 200)
    settings.STATIC_ROOT = tmp_path / "static"
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "perfdash.static_files.HashedStorage"},
    }
    finder = OneDirectory(place)
    for name in (
        "perfdash.static_files.get_finders",
        "django.contrib.staticfiles.management.commands.collectstatic.get_finders",
    ):
        monkeypatch.setattr(name, lambda: [finder])
    return place


def files(root):
    return sorted(re.sub(r"[0-9a-f]{12}", "HASH", path.name) for path in root.iterdir())


def test_files_are_named_by_their_content_and_compressed(source, settings):
    assert static_files.collect(settings.STATIC_ROOT)

    assert files(settings.STATIC_ROOT) == [
        ".collected",
        "some.HASH.js",
        "some.HASH.js.br",
        "some.HASH.js.gz",
        "some.js.HASH.map",
        "staticfiles.json",
    ]


def test_files_that_did_not_change_are_not_compressed_again(source, settings):
    static_files.collect(settings.STATIC_ROOT)

    assert not static_files.collect(settings.STATIC_ROOT)


def test_a_changed_file_is_collected_and_the_old_one_is_gone(source, settings):
    static_files.collect(settings.STATIC_ROOT)
    before = set(settings.STATIC_ROOT.glob("some.*.js"))
    (source / "some.js").write_text("const some = 22;\n" * 200)

    assert static_files.collect(settings.STATIC_ROOT)

    after = set(settings.STATIC_ROOT.glob("some.*.js"))
    assert len(after) == 1
    assert not after & before


def test_what_was_left_half_done_is_made_anew(source, settings):
    settings.STATIC_ROOT.mkdir()
    (settings.STATIC_ROOT / "some.js").write_text("")

    assert static_files.collect(settings.STATIC_ROOT)
    assert (settings.STATIC_ROOT / "staticfiles.json").exists()


@pytest.mark.django_db  # closing an answer looks at the connection that another test may have left open
def test_browsers_get_them_compressed_and_keep_them_for_ever(source, settings):
    static_files.collect(settings.STATIC_ROOT)
    settings.STATIC_COLLECTED, settings.WHITENOISE_USE_FINDERS = True, False
    middleware = WhiteNoiseMiddleware(lambda _: HttpResponseNotFound())
    url = staticfiles_storage.url("some.js")

    for accepted, encoding in (("br, gzip", "br"), ("gzip", "gzip"), ("", None)):
        answer = middleware(RequestFactory().get(url, headers={"accept-encoding": accepted}))

        assert answer.status_code == 200
        assert answer.get("Content-Encoding") == encoding
        assert "immutable" in answer["Cache-Control"]
        answer.close()


def test_plotly_is_the_bundle_that_its_page_describes():
    result = finders.find(PLOTLY)
    assert result
    text = Path(result).read_bytes()
    message = (settings.BASE_DIR / "campaigns/static/vendor/README.md").read_text()

    assert hashlib.sha512(text).hexdigest() in message
    assert f"plotly.js {get_plotlyjs_version()}," in message
    assert len(text) < 1_300_000


def test_plotly_is_of_the_version_that_its_python_package_has():
    """The package writes figures for its own script; saved charts have the vendored one, a part of the same version."""
    result = finders.find(PLOTLY)
    assert result
    pins = (settings.BASE_DIR / "pyproject.toml").read_text()

    assert Path(result).read_text()[:100].count(f" v{get_plotlyjs_version()}\n") == 1
    assert f"* plotly.js v{get_plotlyjs_version()}\n" in get_plotlyjs()[:100]
    assert f'"plotly=={version("plotly")}"' in pins


def test_plotly_can_stand_in_a_page():
    """A saved chart holds the script: nothing in it may end the element, and HTML reads a return as a line feed."""
    result = finders.find(PLOTLY)
    assert result
    text = Path(result).read_bytes().lower()

    assert [part for part in (b"</script", b"<!--", b"\r", b"\0") if part in text] == []
