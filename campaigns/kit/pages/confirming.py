"""Pages that confirm a step: the user types a reason, or the name of a production server."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from campaigns.models import Campaign

LONGEST_NAME = 700


@dataclass(frozen=True, slots=True)
class Step:
    """The step to confirm. `sent`: hidden fields of the form."""

    heading: str
    text: str
    action: str
    back: str
    button: str
    sent: tuple[tuple[str, str], ...] = ()


def typed_name(request: HttpRequest) -> str:
    """Return the name that the user typed; empty before the form was sent."""
    return request.POST.get("confirmed_name", "").strip()[:LONGEST_NAME]


def ask_reason(request: HttpRequest, campaign: Campaign, step: Step) -> HttpResponse:
    """Render the page that requires a reason."""
    return render(request, "planning/confirm.html", {"campaign": campaign, "step": step})


def ask_for_name(request: HttpRequest, campaign: Campaign, step: Step, name: str) -> HttpResponse:
    """Render the page that requires the name of the production server, with an error after a wrong one.

    name: to be typed; those of several servers with commas between them.
    """
    typed = typed_name(request)
    wrong = "confirmed_name" in request.POST
    error = ""
    if wrong:
        problem = f"“{typed}” is not its name" if typed else "The name is missing"
        error = f"{problem}; the server is called “{name}”. Nothing was started."
    context = {"campaign": campaign, "step": step, "name": name, "typed": typed, "error": error}
    return render(request, "planning/confirm_target.html", context, status=422 if wrong else 200)
