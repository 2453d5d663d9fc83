"""Security headers of pages: no content from elsewhere, nothing inline.

Styles in `style` attributes alone are allowed: templates set custom properties in place, and Plotly
positions what it draws. No Trusted Types: htmx swaps what the server sent as HTML, by design, and a
policy that lets everything through would only look like one.
"""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.cache import add_never_cache_headers

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "script-src-attr 'none'",
        "style-src 'self'",
        "style-src-attr 'unsafe-inline'",
        "img-src 'self' blob:",  # Plotly draws a PNG from what it wrote itself
        "font-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
UNUSED = (
    "accelerometer",
    "browsing-topics",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "magnetometer",
    "microphone",
    "midi",
    "payment",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": ", ".join(f"{feature}=()" for feature in UNUSED),
}
"""Django's own middleware adds nosniff, X-Frame-Options, Referrer-Policy and the opener policy."""


def security_headers(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Middleware: send them with every answer, static files and errors too."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if request.path.startswith(("/account/", "/sign-in/")):
            add_never_cache_headers(response)  # a browser stores no secret, code or token
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return middleware
