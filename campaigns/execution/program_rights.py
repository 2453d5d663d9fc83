"""Who may define programs, by where they run: one on a worker runs beside the secrets of all teams."""

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied

from campaigns.kinds.base.commanding import NO_PROGRAMS
from campaigns.kinds.program.definition import Definition
from campaigns.models import Team
from campaigns.targets.ssh_logins import ADMIN_ALONE, is_admin

ADMIN_ON_WORKERS = (
    "A program on a worker runs beside what all teams keep secret: only an administrator defines, tries and publishes one here. "
    "The administrator may let operators do so, too: PERFDASH_WORKER_PROGRAMS, best with PERFDASH_PROGRAM_SERVICE."
)


def why_not_defined(user: User, where: str = "worker") -> str:
    """Return why a user who operates may define no program that runs there; empty where the user may."""
    if where == "target":
        return "" if is_admin(user) else ADMIN_ALONE
    if settings.WORKER_PROGRAMS == "off":
        return NO_PROGRAMS
    return "" if _operators_define() or is_admin(user) else ADMIN_ON_WORKERS


def require_definer(definition: Definition, user: User) -> None:
    """Raise PermissionDenied for a user who may not define, try or publish a program."""
    if why := why_not_defined(user, definition.where):
        raise PermissionDenied(why)


def _operators_define() -> bool:
    """Return whether operators define programs on workers: by default while these read secrets of no other team."""
    if settings.WORKER_PROGRAMS == "by teams":
        return bool(settings.PROGRAM_SERVICE) or Team.objects.count() <= 1
    return bool(settings.WORKER_PROGRAMS == "operators")
