"""Signing in and out, API tokens, and the health check."""

from typing import Any

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRefresh

from campaigns.definition import access
from campaigns.definition.checking import Invalid
from campaigns.models import ApiToken
from campaigns.web.fields import Field, from_form
from campaigns.web.people import user_of

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    """Name and password. A poll of a page whose session ended makes that page load again."""

    template_name = "accounts/sign_in.html"
    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *arguments: Any, **named: Any) -> HttpResponseBase:
        if request.headers.get("HX-Request") and not request.user.is_authenticated:
            return HttpResponseClientRefresh()
        return super().dispatch(request, *arguments, **named)

    def get_context_data(self, **named: Any) -> dict[str, Any]:
        context = super().get_context_data(**named)
        form = context["form"]
        wrong = form.non_field_errors()
        name, password = form["username"], form["password"]
        invalid = {"aria-invalid": "true"} if wrong else {}
        context["message"] = " ".join(wrong)
        context["fields"] = [
            Field(
                "username",
                "Name",
                name.value() or "",
                errors=name.errors,
                autocomplete="username",
                attributes=invalid,
            ),
            Field(
                "password",
                "Password",
                shape="password",
                errors=password.errors,
                attributes=invalid,
            ),
        ]
        return context


@login_not_required
@never_cache
@require_GET
def sign_in_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Use a one-time link up. HEAD is refused, so that nothing looks a link to death."""
    if request.user.is_authenticated:
        return redirect("home")
    try:
        user = access.redeem(token)
    except access.LinkRefused as refusal:
        view = SignIn(extra_context={"message": str(refusal)})
        view.setup(request)
        page = view.render_to_response(view.get_context_data() | {"message": str(refusal)})
        page.status_code = 403
        return page
    login(request, user, backend=MODEL_BACKEND)
    return redirect("home")


@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """The tokens of the one who looks."""
    return _account_page(request)


@never_cache
@require_http_methods(["POST"])
def create_token(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, this once: it goes into no redirect and no session."""
    name = request.POST.get("name", "")
    try:
        token, text = access.make_token(user_of(request), name)
    except Invalid as invalid:
        return _account_page(request, name=name, errors=invalid.errors, status=422)
    return _account_page(request, made=token, text=text)


@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own tokens."""
    access.revoke(get_object_or_404(ApiToken, pk=pk, user=user_of(request)))
    return redirect("account")


@login_not_required
@never_cache
@require_GET
def health(request: HttpRequest) -> JsonResponse:
    """Say whether this process reaches its database; 503 where it does not."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        reason = str(error).strip().splitlines()
        return JsonResponse(
            {"status": "unavailable", "database": reason[0] if reason else "unreachable"},
            status=503,
        )
    return JsonResponse({"status": "ok", "database": "ok"})


def _account_page(
    request: HttpRequest,
    *,
    name: str = "",
    errors: dict[str, list[str]] | None = None,
    made: ApiToken | None = None,
    text: str = "",
    status: int = 200,
) -> HttpResponse:
    user: User = user_of(request)
    field = from_form(
        "name", access.TokenForm.base_fields["name"], name, (errors or {}).get("name", ())
    )
    context = {
        "tokens": user.api_tokens.order_by("revoked_at", "-created_at"),
        "field": field,
        "made": made,
        "text": text,
    }
    return render(request, "accounts/account.html", context, status=status)
