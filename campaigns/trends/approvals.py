"""A line that loads a production server: a second operator approves what it does, for a while. Each function is one transaction."""

import hashlib
import json
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import NotPossible
from campaigns.kit.outbox import announce
from campaigns.kit.rights import NotAllowed, Right, people_with, require_right
from campaigns.models import Announcement, Line, LineApproval, Target
from campaigns.planning import templates
from campaigns.targets.allowed import allowed_on_each

DAYS = 90
APPROVED = (
    "cron",
    "zone",
    "by_version",
    "sessions_per_version",
    "minutes_a_week",
    "confirm",
    "switch_id",
)
"""What an approval covers of a line, beside its template, owner and servers: how often it loads them, and for how long."""


def production_names(line: Line) -> str:
    """Return the names of the production servers that a line loads; empty where it loads none."""
    targets = _targets_of(line)
    limits = allowed_on_each(targets)
    marked = [each.name for each in targets if limits[each.pk].production is not None]
    return ", ".join(marked)


def _targets_of(line: Line) -> list[Target]:
    return list(templates.targets_of(line.template)) if line.template is not None else []


def hash_of(line: Line) -> str:
    """Return the hash of what is approved: the definition with its number of runs, the servers, when, how long, and as whom."""
    where = [{"url": each.base_url, "address": each.address} for each in _targets_of(line)]
    template = line.template
    data = {
        "template": template and template.pk,
        "definition": template and template.definition,
        "where": where,
        "owner": line.owner_id,
        **{name: getattr(line, name) for name in APPROVED},
    }
    text = json.dumps(data, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def approval_of(line: Line, now: datetime) -> LineApproval | None:
    """Return the approval by which a line may load its production servers now."""
    rows = line.approvals.filter(hash=hash_of(line), until__gt=now)
    found = rows.select_related("approved_by").order_by("-until").first()
    if found is None or found.approved_by_id == line.owner_id:
        return None
    return found


def why_unapproved(line: Line, now: datetime) -> str:
    """Return why a line may not load a production server; empty where it may, or loads none."""
    names = production_names(line)
    if not names or approval_of(line, now) is not None:
        return ""
    last = line.approvals.order_by("-until").first()
    if last is None:
        began = "A second operator has to approve the line first"
    elif last.until <= now:
        began = f"Its approval ended on {last.until:%Y-%m-%d}: a second operator has to approve the line again"
    else:
        began = (
            "What was approved has changed since: a second operator has to approve the line again"
        )
    return f"“{names}” is a production server. {began}."


@transaction.atomic
def approve(line: Line, user: User) -> LineApproval:
    """Approve a line as a second operator, for 90 days; the locked line may be resumed. Raise NotPossible, NotAllowed."""
    row = Line.objects.select_for_update(of=("self",), no_key=True)
    line = row.select_related("template", "target", "team", "owner").get(pk=line.pk)
    require_right(user, line, Right.OPERATE)
    if user.pk == line.owner_id:
        raise NotAllowed("You own this line: another operator of the team has to approve it.")
    if line.state == Line.State.ENDED:
        raise NotPossible(f"The line “{line}” has ended. Begin another one with a campaign.")
    names = production_names(line)
    if not names:
        raise NotPossible("The line loads no production server, so there is nothing to approve.")
    until = database_now() + timedelta(days=DAYS)
    made = LineApproval.objects.create(
        line=line, hash=hash_of(line), asked_by=line.owner, approved_by=user, until=until
    )
    record(Action.LINE_APPROVED, user=user, subject=line, servers=names, until=until.isoformat())
    return made


def ask_for_approval(line: Line, user: User, path: str) -> None:
    """Tell the other operators that a line waits for one of them."""
    announce(
        Announcement.Kind.LAUNCH_REQUESTED,
        line.team,
        to=people_with(line.team, Right.OPERATE).exclude(pk=line.owner_id),
        by=user,
        what=f"The line “{line}” is to load the production server “{production_names(line)}” again and again.",
        to_do="Look at its template, schedule and budget, and approve it on its page.",
        path=path,
    )
