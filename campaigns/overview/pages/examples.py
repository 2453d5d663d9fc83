"""Examples to begin with: their page, and the button that launches one."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.kit.errors import Invalid
from campaigns.kit.pages.people import may, takes, user_of
from campaigns.kit.rights import Right
from campaigns.overview import examples
from campaigns.planning.pages.define import go_on


@require_GET
@takes(Right.SEE)
def example_list(request: HttpRequest) -> HttpResponse:
    """Show all examples of this installation."""
    context = {"examples": examples.offered(may(request).see)}
    return render(request, "overview/examples.html", context)


@require_POST
@takes(Right.WRITE)
def example_start(request: HttpRequest, name: str) -> HttpResponse:
    """Make a campaign of an example and launch it; with `draft` it stays a draft."""
    offers = {each.example.name: each for each in examples.offered(may(request).write)}
    if name not in offers:
        raise Http404
    try:
        draft = examples.draft_of(offers[name], user_of(request))
    except Invalid as refusal:
        messages.warning(request, f"It cannot be launched here. {refusal}")
        return redirect("example-list")
    return go_on(request, draft, "save" if "draft" in request.POST else "launch")
