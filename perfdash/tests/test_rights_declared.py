"""Every address says which right it takes: one that says nothing would let everybody in."""

from django.urls import URLPattern, get_resolver

from campaigns.kit.api.views import Api
from campaigns.kit.rights import Right, Takes

CHANGING = ("post", "put", "patch", "delete")
OF_OTHERS = ("allauth.", "django.views.generic.base.RedirectView")
"""Views of libraries that concern the one who asks, and nobody else."""


def routes(patterns=None, prefix=""):
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        text = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield text, pattern.callback
        else:
            yield from routes(pattern.url_patterns, text)


def missing(callback):
    """What an address has yet to say; empty where it says all."""
    cls = getattr(callback, "cls", None)
    if cls is not None and issubclass(cls, Api):
        return [
            f"{cls.__name__}.takes says no right for {method}: takes = {{'{method}': Right.…}}"
            for method in CHANGING
            if hasattr(cls, method) and not isinstance(cls.takes.get(method), Right)
        ]
    if not getattr(callback, "login_required", True):
        return []
    view = getattr(callback, "view_class", callback)
    if f"{view.__module__}.{view.__qualname__}".startswith(OF_OTHERS):
        return []
    if isinstance(getattr(callback, "takes", None), Takes):
        return []
    return [f"{view.__qualname__} has no @takes(Right.…, of=…) (campaigns.kit.pages.people)"]


def test_every_address_says_which_right_it_takes():
    silent = {address: result for address, view in routes() if (result := missing(view))}

    assert silent == {}


def test_a_view_that_says_nothing_is_found():
    class Forgetful(Api):
        def post(self, request):
            raise NotImplementedError

    def page(request):
        raise NotImplementedError

    assert missing(Forgetful.as_view())
    assert missing(page)
