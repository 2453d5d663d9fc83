"""Write a conclusion, send it, decide on it, withdraw it. A refusal is a message, never a 500."""

from collections.abc import Callable
from dataclasses import asdict

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from campaigns.kit.errors import Invalid
from campaigns.kit.forms import is_key
from campaigns.kit.pages.moved import Moved, of_texts, opened_on, seen_in
from campaigns.kit.pages.people import campaign_of, takes, user_of
from campaigns.kit.revisions import Changed
from campaigns.kit.rights import Right, find
from campaigns.models import Campaign, Conclusion
from campaigns.reviews.checklist import checklist, without_word
from campaigns.reviews.content import Content, content_of, revised
from campaigns.reviews.deciding import LONGEST_REASON, Word, decide
from campaigns.reviews.drafting import create, delete, edit
from campaigns.reviews.errors import ReviewRefused
from campaigns.reviews.pages.conclusions.form import drawn, read
from campaigns.reviews.rows import possible_reviewers
from campaigns.reviews.sending import send, withdraw
from campaigns.reviews.suggesting import suggestion

MOST_CAMPAIGNS = 20
TEXTS = ("claim", "recommendation", "limits", "evidence", "words")


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE)
def conclusion_new(request: HttpRequest) -> HttpResponse:
    """Begin a conclusion from campaigns (`?campaign=`), or from an older conclusion (`?supersedes=`)."""
    if request.method == "GET":
        return _draw(request, _begun(request), {})
    content = read(request)
    try:
        made = create(user_of(request), content)
    except Invalid as invalid:
        return _draw(request, content, invalid.errors)
    messages.success(request, "The draft is saved. Justify the warnings, then send it to review.")
    return redirect("conclusion-edit" if _missing(made) else "conclusion", made.pk)


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Conclusion)
def conclusion_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Edit the text of a conclusion, and justify its checks."""
    conclusion = Conclusion.objects.select_related("team").get(pk=pk)
    if conclusion.state not in Conclusion.EDITABLE:
        messages.warning(
            request,
            f"The conclusion is {conclusion.get_state_display()}: take it back to draft to change it.",
        )
        return redirect("conclusion", pk)
    if request.method == "GET":
        return _draw(request, content_of(conclusion), {}, conclusion)
    content = read(request)
    try:
        edit(pk, user_of(request), content, revision=seen_in(request))
    except Changed as changed:
        return _draw(request, content, {}, conclusion, changed)
    except Invalid as invalid:
        return _draw(request, content, invalid.errors, conclusion)
    except ReviewRefused as refusal:
        return _draw(request, content, {"": [str(refusal)]}, conclusion)
    messages.success(request, "The conclusion is saved.")
    return redirect("conclusion", pk)


@require_http_methods(["GET", "POST"])
@takes(Right.WRITE, Conclusion)
def conclusion_send(request: HttpRequest, pk: int) -> HttpResponse:
    """Choose the reviewers of a conclusion, and send it to review."""
    conclusion = Conclusion.objects.select_related("team").get(pk=pk)
    people = [each for each in possible_reviewers(conclusion) if each != request.user]
    requested = set(conclusion.reviewers.values_list("user", flat=True))
    error = ""
    if request.method == "POST":
        keys = {int(key) for key in request.POST.getlist("reviewer") if is_key(key)}
        requested = keys
        try:
            send(pk, user_of(request), list(User.objects.filter(pk__in=keys).order_by("pk")))
        except Invalid as invalid:
            error = " ".join(message for match in invalid.errors.values() for message in match)
        except ReviewRefused as refusal:
            error = str(refusal)
        else:
            messages.success(request, "It is in review; the reviewers are notified.")
            return redirect("conclusion", pk)
    if request.method == "GET" and len(people) <= conclusion.team.approvals_needed:
        requested |= {person.pk for person in people}  # nobody else can be asked
    context = {
        "conclusion": conclusion,
        "people": [(person, person.pk in requested) for person in people],
        "missing": _missing(conclusion),
        "needed": conclusion.team.approvals_needed,
        "error": error,
    }
    return render(request, "reviews/conclusions/send.html", context, status=422 if error else 200)


@require_POST
@takes(Right.REVIEW, Conclusion)
def conclusion_decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve the shown revision, request changes, or reject it."""
    word, revision = request.POST.get("decision", ""), request.POST.get("revision", "")
    if word not in Word.values or not is_key(revision):
        messages.warning(request, "Choose to approve, to ask for changes, or to reject.")
        return redirect("conclusion", pk)

    def step(user: User) -> Conclusion:
        return decide(
            pk,
            user,
            word,
            revision=int(revision),
            data_hash=request.POST.get("data_hash", ""),
            reason=_typed(request, "reason")[:LONGEST_REASON],
            with_failed=request.POST.get("with_failed") == "on",
        )

    return _take(request, pk, step, "Your decision is on record.")


@require_POST
@takes(Right.WRITE, Conclusion)
def conclusion_withdraw(request: HttpRequest, pk: int) -> HttpResponse:
    """Withdraw a conclusion to draft."""
    value = request.POST.get("revision", "")
    revision = int(value) if is_key(value) else None
    return _take(
        request,
        pk,
        lambda user: withdraw(pk, user, _typed(request, "reason"), revision),
        "It is a draft again; decisions on it stay on record and are void.",
    )


@require_POST
@takes(Right.WRITE, Conclusion)
def conclusion_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a draft that was never sent to review."""
    try:
        delete(pk, user_of(request))
    except ReviewRefused as refusal:
        messages.warning(request, str(refusal))
        return redirect("conclusion", pk)
    messages.success(request, "The draft is deleted.")
    return redirect("conclusion-list")


def _take(request: HttpRequest, pk: int, step: Callable[[User], object], done: str) -> HttpResponse:
    """Take a step and redirect to the page, which shows the reason of a refusal."""
    try:
        step(user_of(request))
    except ReviewRefused as refusal:
        messages.warning(request, str(refusal))
    else:
        messages.success(request, done)
    return redirect("conclusion", pk)


def _begun(request: HttpRequest) -> Content:
    """Return the initial content of a new conclusion. Raise NotVisible for what the user may not see."""
    older = request.GET.get("supersedes", "")
    if is_key(older):
        row = find(Conclusion.objects.all(), user_of(request), pk=int(older))
        result = content_of(row)
        return Content(
            claim=result.claim,
            recommendation=result.recommendation,
            limits=result.limits,
            evidence=result.evidence,
            supersedes=row.pk,
        )
    keys = [key for key in request.GET.getlist("campaign") if is_key(key)][:MOST_CAMPAIGNS]
    campaigns: list[Campaign] = [campaign_of(request, key) for key in dict.fromkeys(keys)]
    launched = [each for each in campaigns if each.state != Campaign.State.DRAFT]
    if not launched:
        return Content(claim="", evidence=[])
    return suggestion(launched, request.GET.get("view", "").replace("\x00", "")[:500])


def _draw(
    request: HttpRequest,
    content: Content,
    errors: dict[str, list[str]],
    conclusion: Conclusion | None = None,
    changed: Changed | None = None,
) -> HttpResponse:
    context = {
        **drawn(request, content, errors, conclusion),
        "conclusion": conclusion,
        "seen": opened_on(request, revised(conclusion) if conclusion else None, changed),
        "moved": _moved(changed, content) if changed else None,
    }
    status = 409 if changed else 422 if errors else 200
    return render(request, "reviews/conclusions/form.html", context, status=status)


def _moved(changed: Changed, content: Content) -> Moved:
    """Return changed texts as they are; for evidence and justifications, that they differ and their number."""
    typed, stored = asdict(content), dict(changed.stored)
    for name, of in (("evidence", "piece"), ("words", "written word")):
        for value in (typed, stored):
            number = len(value[name])
            value[name] = f"{number} {of}{'' if number == 1 else 's'}"
    labels = {name: name.capitalize() for name in TEXTS if name in changed.fields}
    return of_texts(changed, typed, stored, labels)


def _typed(request: HttpRequest, name: str) -> str:
    typed = request.POST.get(name, "")[: LONGEST_REASON * 2].replace("\r\n", "\n")
    return "".join(sign for sign in typed if sign.isprintable() or sign in "\n\t").strip()


def _missing(conclusion: Conclusion) -> list[str]:
    return [check.title for check in without_word(conclusion, checklist(conclusion))]
