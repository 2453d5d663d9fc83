"""The page before a step: what somebody types there is the reason, or a production server's name."""

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from campaigns.models import Campaign

LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Step:
    """What is about to be done. `sent`: what else the form has to send again, by name."""

    heading: str
    text: str
    action: str
    back: str
    button: str
    sent: tuple[tuple[str, str], ...] = ()


def typed_name(request: HttpRequest) -> str:
    """The name that somebody typed; empty where nobody was asked yet."""
    return request.POST.get("confirmed_name", "").strip()[:LONGEST_NAME]


def ask_reason(request: HttpRequest, campaign: Campaign, step: Step) -> HttpResponse:
    """Ask why something is ended or left out."""
    return render(request, "planning/confirm.html", {"campaign": campaign, "step": step})


def ask_for_name(request: HttpRequest, campaign: Campaign, step: Step) -> HttpResponse:
    """Ask for the name of the campaign's target, or say that another one was typed."""
    typed = typed_name(request)
    wrong = "confirmed_name" in request.POST
    error = ""
    if wrong and campaign.target:
        said = f"“{typed}” is not its name" if typed else "The name is missing"
        error = f"{said}; the server is called “{campaign.target.name}”. Nothing was started."
    context = {"campaign": campaign, "step": step, "typed": typed, "error": error}
    return render(request, "planning/confirm_target.html", context, status=422 if wrong else 200)
