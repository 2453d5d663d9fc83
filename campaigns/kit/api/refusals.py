"""Why a request is refused before it does anything; `problems` turns it into the answer."""

from collections.abc import Mapping
from typing import Any, ClassVar

from rest_framework.exceptions import APIException


class Refusal(APIException):
    """An error whose answer has a type, headers or members of its own."""

    type_: ClassVar[str] = "about:blank"

    def __init__(
        self,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        members: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.headers = dict(headers or {})
        self.members = dict(members or {})
