"""Pages of credentials: the list, one of them, its form, and its end. No page shows a secret."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import add_errors, ask_again
from campaigns.kit.pages.forms import problems_of
from campaigns.kit.pages.moved import of_form, opened_on, posted, seen_in
from campaigns.kit.pages.people import takes, team_form, user_of
from campaigns.kit.revisions import Changed
from campaigns.kit.rights import Right, team_for, visible
from campaigns.models import Credential
from campaigns.targets.credentials import saving
from campaigns.targets.credentials.ends import warning_of
from campaigns.targets.credentials.forms import SECRETS, CredentialForm, remarks_on
from campaigns.targets.credentials.uses import uses_of

OPERATE = Right.OPERATE
MOST_CAMPAIGNS = 20


@require_GET
@takes(Right.SEE)
def credential_list(request: HttpRequest) -> HttpResponse:
    """Show the credentials of the user's teams."""
    rows = visible(Credential.objects.select_related("team"), user_of(request))
    now = database_now()
    context = {"rows": [(row, warning_of(row, now), uses_of(row).open.count()) for row in rows]}
    return render(request, "targets/credentials/list.html", context)


@require_GET
@takes(Right.SEE, Credential)
def credential_page(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a credential: where it may be sent, until when it is valid, and what names it."""
    row, now = get_object_or_404(Credential.objects.select_related("team"), pk=pk), database_now()
    uses = uses_of(row)
    context = {
        "row": row,
        "warning": warning_of(row, now),
        "remarks": remarks_on(row, now),
        "open": uses.open[:MOST_CAMPAIGNS],
        "closed": uses.closed[:MOST_CAMPAIGNS],
        "templates": uses.templates[:MOST_CAMPAIGNS],
    }
    return render(request, "targets/credentials/credential.html", context)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE)
def credential_new(request: HttpRequest) -> HttpResponse:
    """Make a credential."""
    return _form_page(request, None)


@require_http_methods(["GET", "POST"])
@takes(Right.OPERATE, Credential)
def credential_edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a credential."""
    return _form_page(request, get_object_or_404(Credential, pk=pk))


@require_POST
@takes(Right.OPERATE, Credential)
def credential_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a credential that nothing needs."""
    row = get_object_or_404(Credential, pk=pk)
    try:
        saving.delete_credential(row, user_of(request))
    except NotPossible as refusal:
        messages.warning(request, str(refusal))
        return redirect("credential", pk)
    messages.success(request, f"{row} is deleted.")
    return redirect("credential-list")


def _form_page(request: HttpRequest, row: Credential | None) -> HttpResponse:
    """Show the form, or save its input. A form with errors keeps its input, but no secret."""
    form, invalid, changed = None, None, None
    if request.method == "POST":
        try:
            team = None if row else team_for(user_of(request), request.POST.get("team"), OPERATE)
            form = CredentialForm(posted(request), credential=row or Credential(team=team))
            return _saved(request, form, saving.save(form, seen_in(request)))
        except Changed as error:
            changed = error
        except Invalid as error:
            invalid = error
    form = form or CredentialForm(posted(request), credential=row)
    if invalid:
        add_errors(form, invalid)
    if invalid or changed:
        ask_again(form, SECRETS)
    context = {
        "form": form,
        "row": row and form.stored,
        "team": team_form(request, OPERATE, invalid) if row is None else None,
        "errors": problems_of(form) if invalid else [],
        "moved": changed and of_form(changed, form, SECRETS),
        "seen": opened_on(request, saving.revised(form.stored) if row else None, changed),
    }
    status = 409 if changed else 422 if invalid else 200
    return render(request, "targets/credentials/form.html", context, status=status)


def _saved(request: HttpRequest, form: CredentialForm, row: Credential) -> HttpResponse:
    messages.success(request, f"{row} is saved.")
    for sentence in saving.remarks_after(row, form.cleaned_data):
        messages.warning(request, sentence)
    return redirect("credential", row.pk)
