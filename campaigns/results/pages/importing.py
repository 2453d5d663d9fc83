"""Pages that import a file: preview, store, wait for a worker."""

import json
from dataclasses import dataclass
from typing import IO

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kit.errors import BadFile, Invalid
from campaigns.kit.events import work_waits
from campaigns.kit.formats import direction
from campaigns.kit.forms import Text
from campaigns.kit.mappings import JsonObject, TemplateContext
from campaigns.kit.pages.people import takes, team_form, user_of
from campaigns.kit.rights import Right, team_for, visible
from campaigns.models import Campaign, Submission
from campaigns.planning.analyses import request_analysis
from campaigns.results.importing import waiting
from campaigns.results.importing.files import About, import_file
from campaigns.results.importing.receiving import Received
from campaigns.results.readers import all_readers

SHOWN = 20
WAY = {
    Campaign.Fidelity.RAW: "one number a run, as measured",
    Campaign.Fidelity.AGGREGATED: "of many samples, aggregated by the tool",
    Campaign.Fidelity.ROUNDED: "rounded by the tool",
}


class ImportForm(forms.Form):
    """The description of a file; every field is optional."""

    format = forms.ChoiceField(
        choices=[("", "Detect automatically"), *((n, r.label) for n, r in all_readers().items())],
        required=False,
        help_text="Only needed where it cannot be determined.",
    )
    question = Text(max_length=500, required=False, help_text="The question that it answers.")
    name = Text(
        max_length=120, required=False, help_text="Shown in lists; by default the file's own."
    )
    tags = Text(max_length=500, required=False, help_text="Words, separated by commas.")
    primary_metric = Text(
        max_length=100, required=False, help_text="The one that answers the question."
    )
    load = Text(
        max_length=500,
        required=False,
        label="Load",
        help_text="Factors that are how much was asked at once, such as clients, separated by commas. Their levels "
        "are not ranked: the answer is what each setting carries.",
    )
    setting = Text(
        max_length=500,
        required=False,
        label="Setting",
        help_text="Factors that the preview asks about, and that somebody may choose, separated by commas. Their levels are ranked.",
    )
    lower = Text(
        max_length=500,
        required=False,
        label="Lower is better",
        help_text="Metrics of which the file does not say it, separated by commas.",
    )
    higher = Text(
        max_length=500,
        required=False,
        label="Higher is better",
        help_text="Metrics of which the file does not say it, separated by commas.",
    )
    criterion = forms.CharField(
        max_length=2000,
        required=False,
        label="Criterion",
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="What has to be kept, one condition a line: p95 <= 180 s; failed <= 5 %.",
    )
    closed_loop = Text(
        max_length=300,
        required=False,
        label="Closed loop",
        help_text="Where a fixed number of clients sent one request each at a time: the metric of completions per second, and "
        "after a comma that of the mean response time. The Universal Scalability Law is fitted then.",
    )
    facts = forms.CharField(
        max_length=20_000,
        required=False,
        label="Environment",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One fact per line: cpu = EPYC 7543. What the file says itself is read.",
    )
    mapping = forms.CharField(
        max_length=20_000,
        required=False,
        label="Columns of a plain CSV",
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text="A JSON object with factors and metrics: see “Import a file” in the manual.",
    )

    def clean(self) -> JsonObject:
        """Refuse what is named in both of two fields that exclude each other."""
        cleaned = super().clean() or self.cleaned_data
        for one, other in (("load", "setting"), ("lower", "higher")):
            twice = _listed(cleaned.get(one)) & _listed(cleaned.get(other))
            if twice:
                label = self.fields[one].label
                self.add_error(other, f"“{min(twice)}” stands under “{label}”, too: name it once.")
        return cleaned

    def clean_facts(self) -> dict[str, str]:
        """Read one fact a line. Raise ValidationError that names the line."""
        result = {}
        for number, line in enumerate(self.cleaned_data["facts"].splitlines(), start=1):
            name, separator, value = (part.strip() for part in line.partition("="))
            if not line.strip():
                continue
            if not (separator and name and value) or len(name) > 100:
                raise forms.ValidationError(f"Line {number} is not written as name = value.")
            result[name] = value
        return result

    def clean_mapping(self) -> JsonObject:
        """Read a JSON object. Raise ValidationError."""
        text = self.cleaned_data["mapping"].strip()
        try:
            read = json.loads(text) if text else {}
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not JSON: {error}") from None
        if not isinstance(read, dict):
            raise forms.ValidationError("Give an object: {“factors”: […], “metrics”: {…}}.")
        return read

    def about(self, filename: str) -> About:
        """Return the description in the form that an import takes."""
        clean = self.cleaned_data
        roles, directions = (
            {name: word for word in words for name in sorted(_listed(clean[word]))}
            for words in (("load", "setting"), ("lower", "higher"))
        )
        loop = dict(zip(LOOP, map(str.strip, clean["closed_loop"].split(",")), strict=False))
        return About(
            filename=filename,
            format=clean["format"],
            definition={
                name: clean[name]
                for name in ("question", "name", "tags", "primary_metric", "criterion")
                if clean[name]
            }
            | ({"roles": roles} if roles else {})
            | ({"directions": directions} if directions else {})
            | ({"closed_loop": loop} if clean["closed_loop"] else {}),
            context=clean["facts"],
            mapping=clean["mapping"],
        )


def _listed(text: str | None) -> set[str]:
    """Return names that are separated by commas."""
    return {name.strip() for name in (text or "").split(",") if name.strip()}


LOOP = ("throughput", "response")
"""What the field of a closed loop names, in this order."""


@dataclass(frozen=True, slots=True)
class Look:
    """The preview of a file. primary: label of the primary metric. rows: of metrics: label, name, unit, direction, kind of number."""

    campaign: Campaign
    received: Received
    tool: str
    primary: str
    factors: tuple[tuple[str, int], ...]
    rows: tuple[tuple[str, str, str, str, str], ...]
    more: int


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE)
def import_page(request: HttpRequest) -> HttpResponse:
    """Show the form; a POST stores the file, or shows what is wrong with it."""
    if request.method != "POST":
        return render(
            request,
            "results/imports/form.html",
            {"fields": _fields(request, ImportForm()), **_last(request)},
        )
    form, file, problems = _sent(request)
    if not problems and form.is_valid() and file is not None:
        try:
            return _imported(request, file, form.about(file.name or ""))
        except (BadFile, Invalid) as problem:
            problems = _text(problem)
    context = {"fields": _fields(request, form), "problems": problems, **_last(request)}
    return render(request, "results/imports/form.html", context, status=422)


@require_POST
@takes(Right.WRITE)
def import_preview(request: HttpRequest) -> HttpResponse:
    """Show what would be stored, for the part of the page below the form. Nothing is stored."""
    form, file, problems = _sent(request)
    context: TemplateContext = {"problems": problems, "fields": []}
    if not problems and file is not None:
        if not form.is_valid():
            context["problems"] = [
                f"{name}: {' '.join(map(str, labels))}" for name, labels in form.errors.items()
            ]
        elif (file.size or 0) > waiting.READ_AT_ONCE:
            context["large"] = True
        else:
            try:
                context["look"] = _look(request, file, form.about(file.name or ""))
            except (BadFile, Invalid) as problem:
                context["problems"] = _text(problem)
    return render(request, "results/imports/_look.html", context)


@require_GET
@takes(Right.SEE, Submission)
def import_wait(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the progress of a large file; redirect to its campaign as soon as there is one."""
    submission = get_object_or_404(Submission.objects.exclude(filename=""), pk=pk)
    if submission.state == Submission.State.STORED:
        address = reverse("campaign", args=[submission.campaign_id])
        if "HX-Request" in request.headers:
            return HttpResponse(headers={"HX-Redirect": address})
        return redirect(address)
    part = "HX-Request" in request.headers
    return render(
        request,
        "results/imports/_waiting.html" if part else "results/imports/wait.html",
        {"kept": submission},
    )


def _sent(request: HttpRequest) -> tuple[ImportForm, UploadedFile | None, list[str]]:
    form = ImportForm(request.POST)
    file = request.FILES.get("file")
    if not isinstance(file, UploadedFile):
        return form, None, ["Choose a file."]
    if not file.size:
        return form, file, [f"“{file.name}” is empty."]
    return form, file, []


def _imported(request: HttpRequest, file: UploadedFile, about: About) -> HttpResponse:
    user, content = user_of(request), _content(file)
    team = team_for(user, request.POST.get("team"))
    if (file.size or 0) > waiting.READ_AT_ONCE:
        submission = waiting.keep(content, about, user, team)
        if isinstance(submission, Submission):
            work_waits.send(sender=None)
            return redirect("import-wait", submission.pk)
        received = submission
    else:
        with transaction.atomic():
            received = import_file(content, about, user, team)
            if received.made:
                request_analysis(received.campaign)
        work_waits.send(sender=None)
    if not received.made:
        messages.info(request, f"“{about.filename}” was imported before: this is its campaign.")
    return HttpResponseRedirect(reverse("campaign", args=[received.campaign.pk]))


def _look(request: HttpRequest, file: UploadedFile, about: About) -> Look:
    """Store the file and roll back. Raise BadFile, Invalid."""
    user = user_of(request)
    team = team_for(user, request.POST.get("team"))
    with transaction.atomic():
        received = import_file(_content(file), about, user, team)
        campaign = received.campaign
        metrics = list(campaign.metrics.all())
        look = Look(
            campaign=campaign,
            received=received,
            primary=next((m.label for m in metrics if m.name == campaign.primary_metric), ""),
            tool=all_readers()[received.submission.format].label,
            factors=tuple(
                (factor.name, factor.levels.count()) for factor in campaign.factors.all()
            ),
            rows=tuple(
                (
                    metric.label,
                    metric.name,
                    metric.unit,
                    direction(metric.lower_is_better),
                    WAY[Campaign.Fidelity(metric.fidelity)],
                )
                for metric in metrics[:SHOWN]
            ),
            more=max(0, len(metrics) - SHOWN),
        )
        transaction.set_rollback(True)
    return look


def _content(file: UploadedFile) -> IO[bytes]:
    file.seek(0)
    return file.file if file.file is not None else file


def _text(problem: BadFile | Invalid) -> list[str]:
    if isinstance(problem, BadFile):
        return [f"{where}: {what}" if where else what for where, what in problem.problems]
    return [
        f"{path.replace('_', ' ')}: {message}" if path else message
        for path, result in problem.errors.items()
        for message in result
    ]


def _fields(request: HttpRequest, form: ImportForm) -> list[forms.BoundField]:
    return [*(team_form(request) or ()), *form]


def _last(request: HttpRequest) -> JsonObject:
    """Return the latest imported files with their campaigns."""
    files = visible(Submission.objects.exclude(filename=""), user_of(request)).select_related(
        "campaign", "user"
    )
    return {"last": files[:10], "tools": [reader.label for reader in all_readers().values()]}
