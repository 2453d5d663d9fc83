"""Lines: begin one with a campaign, change its schedule, pause, resume, end it. Each function is one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.urls import reverse

from campaigns.kinds.base import Subject
from campaigns.kit.activity import Action, record
from campaigns.kit.database_clock import database_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import form_field, messages_of
from campaigns.kit.mappings import FieldValues, JsonObject
from campaigns.kit.outbox import announce
from campaigns.kit.rights import Right, require_right
from campaigns.kit.units import roughly
from campaigns.models import Announcement, Campaign, Factor, Line, Occasion, Target, Template
from campaigns.planning import templates
from campaigns.planning.checking import check
from campaigns.planning.lifecycle.guards import name_to_confirm
from campaigns.planning.metrics import driver_if_known
from campaigns.planning.preview import preview
from campaigns.targets import quiet
from campaigns.targets.names import target_name
from campaigns.targets.quiet_hours import BadQuietHours
from campaigns.trends import approvals, occasions, readings
from campaigns.trends.belonging import belongs, is_of
from campaigns.trends.told import subjects_told

MOST_TRENDS = 24
MOST_EARLIER = 500
ROOM = 1.5
"""A campaign needs so many times its expected time between quiet hours, and in the minutes of a week."""
BY_TIME = ""
"""The subject of a line whose axis is time."""
NIGHTLY = "30 2 * * *"


class LineForm(forms.ModelForm):
    """What a person says of a line."""

    subject = forms.ChoiceField(
        required=False,
        label="versions of",
        help_text="What the target tells the version of; sessions stand in the order of its versions.",
    )

    class Meta:
        model = Line
        formfield_callback = form_field
        fields = (
            "name",
            "by_version",
            "sessions_per_version",
            "cron",
            "zone",
            "minutes_a_week",
            "confirm",
        )

    field_order = ("name", "subject", "switch", *Meta.fields[1:])

    switch = forms.ChoiceField(
        required=False,
        label="build that switches versions",
        help_text="The setting of the target that installs a version. With it, old and new are measured side by side again.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["sessions_per_version"].required = False  # one, unless it is said
        self.fields["confirm"].required = False

    def offer_builds(self, target: Target | None) -> None:
        """Offer the builds of a target; the only one is chosen unless a person says otherwise."""
        field: forms.ChoiceField = self.fields["switch"]  # type: ignore[assignment]
        names = builds_of(target)
        field.choices = [("", "none"), *((name, name) for name in names)]
        field.initial = names[0] if len(names) == 1 else ""
        if not names:
            del self.fields["switch"]

    def clean_confirm(self) -> str:
        """Return that it is measured again automatically where nothing is said."""
        return self.cleaned_data["confirm"] or Line.Confirm.AUTOMATIC

    def offer(self, subjects: Sequence[Subject]) -> None:
        """Offer subjects, and time."""
        field: forms.ChoiceField = self.fields["subject"]  # type: ignore[assignment]
        named = [(each.name, f"{each.name} ({each.version} was installed)") for each in subjects]
        field.choices = [*named, (BY_TIME, "nothing: by time alone")]


def builds_of(target: Target | None) -> list[str]:
    """Return the settings of a target that install a version."""
    if target is None:
        return []
    return list(target.setting_rows.filter(is_build=True).values_list("name", flat=True))


@dataclass(frozen=True, slots=True)
class Beginning:
    """With what a line of a campaign may begin. refused: why it may not; empty where it may."""

    subjects: Sequence[Subject]
    refused: str = ""


def beginning_of(campaign: Campaign) -> Beginning:
    """Return with which subjects a line may begin from a campaign, or why it may not."""
    refused = _why_not(campaign)
    if refused or campaign.factors.filter(role=Factor.Role.BUILD).exists():
        return Beginning((), refused)
    return Beginning(subjects_told(campaign))


def _why_not(campaign: Campaign) -> str:
    if campaign.state not in Campaign.CLOSED:
        return f"The campaign is {campaign.state}: a line begins with a campaign that has ended."
    if campaign.line is not None and campaign.line.state in Line.OPEN:
        return f"It is a part of the line “{campaign.line}” already."
    if campaign.search:
        return "It searches for a capacity, so each session measures other loads: a line needs the same cells each time."
    if campaign.cells.count() > MOST_TRENDS:
        return f"It has {campaign.cells.count()} cells; a line has at most {MOST_TRENDS} trends. Begin one with fewer levels."
    return ""


def why_not_by_itself(campaign: Campaign) -> str:
    """Return why no campaign but that of the template may load the servers; empty where one may."""
    marked = name_to_confirm(campaign)
    if not marked:
        return ""
    return (
        f"“{marked}” is a production server, whose name somebody types each time it is loaded, so no line measures it. "
        "Launch its campaigns by hand."
    )


@transaction.atomic
def begin(campaign: Campaign, data: FieldValues, user: User) -> Line:
    """Begin a line with a campaign, which becomes its first session. Raise Invalid, NotPossible, NotAllowed.

    Its template is that of the campaign, or is made of it. Earlier campaigns of the same definition belong to it, too.
    """
    campaign = Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    require_right(user, campaign, Right.OPERATE)
    offered = beginning_of(campaign)
    if offered.refused:
        raise NotPossible(offered.refused)
    form = LineForm(data)
    form.offer(offered.subjects)
    form.offer_builds(campaign.target)
    clean = _clean(form)
    builds = builds_of(campaign.target)
    switch = clean.pop("switch", "")
    if "switch" not in data and len(builds) == 1:
        switch = builds[0]
    line = Line(
        team=campaign.team,
        target=campaign.target,
        kind=campaign.kind,
        question=campaign.question,
        owner=user,
        metrics=[campaign.primary_metric],
        **clean,
    )
    _set_switch(line, switch)
    line.template = _template(campaign, line.name, user)
    _check_schedule(line)
    _save(line, Action.LINE_CREATED, user)
    _pause_unapproved(line, user)
    for each in [*_earlier(campaign, line), campaign]:
        readings.read(line, each)
    return line


def _set_switch(line: Line, name: object) -> None:
    """Let a build of the line's target switch its versions; none with an empty name, or without versions."""
    target = line.target
    known = target.setting_rows.filter(is_build=True, name=name) if target and name else None
    line.switch = known.first() if known is not None and line.subject else None


def _template(campaign: Campaign, name: str, user: User) -> Template | None:
    """Return the template of a campaign, made of it where it has none of its own definition; None of one from outside."""
    driver = driver_if_known(campaign.kind)
    if campaign.target is None or driver is None or not driver.executable:
        return None
    own = campaign.template
    if own is not None and own.retired_at is None and is_of(campaign, own):
        return own
    taken = set(
        Template.objects.filter(team=campaign.team, retired_at=None).values_list("name", flat=True)
    )
    names = (name, *(f"{name[:110]} {number}" for number in range(2, 1000)))
    free = next(each for each in names if each not in taken)
    made = templates.make_template(campaign, {"name": free, "notes": ""}, user)
    Campaign.objects.filter(pk=campaign.pk).update(template=made)
    return made


def _earlier(campaign: Campaign, line: Line) -> list[Campaign]:
    """Return other campaigns that belong to a new line, in the order in which they were measured."""
    rows = Campaign.objects.filter(team=campaign.team, state__in=Campaign.CLOSED, line=None)
    rows = rows.exclude(pk=campaign.pk).select_related("target").prefetch_related("places")
    if line.template is None:
        rows = rows.filter(target=None, kind=line.kind, question=line.question)
    else:
        rows = rows.filter(template=line.template, target=line.target)
    found = rows.order_by("-created_at")[:MOST_EARLIER]
    return [each for each in reversed(found) if belongs(each, line)]


@transaction.atomic
def change(line: Line, data: FieldValues, user: User) -> Line:
    """Change the name, the schedule and the budget of a line. Raise Invalid, NotPossible, NotAllowed."""
    line = _locked(line, user)
    form = LineForm(data)
    form.fields.pop("subject")
    form.offer_builds(line.target)
    clean = _clean(form)
    if "switch" in data:
        _set_switch(line, clean.get("switch", ""))
    clean.pop("switch", None)
    for name, value in clean.items():
        setattr(line, name, value)
    _check_schedule(line)
    _save(line, Action.LINE_EDITED, user)
    _pause_unapproved(line, user)
    return line


@transaction.atomic
def pause(line: Line, user: User) -> Line:
    """Measure a line no more until it is resumed. Raise NotPossible, NotAllowed."""
    line = _locked(line, user)
    _require(line, Line.State.ON)
    line.state, line.state_reason = Line.State.PAUSED, ""
    line.due_at = None
    _drop_waiting(line, "The line was paused.")
    return _save(line, Action.LINE_PAUSED, user)


@transaction.atomic
def resume(line: Line, user: User) -> Line:
    """Measure a line again, from its next occasion on; who resumes it owns it. Raise Invalid, NotPossible, NotAllowed."""
    line = _locked(line, user)
    _require(line, Line.State.PAUSED)
    line.state, line.state_reason, line.owner = Line.State.ON, "", user
    _check_schedule(line)
    _save(line, Action.LINE_RESUMED, user)
    _pause_unapproved(line, user)
    return line


@transaction.atomic
def approve(line: Line, user: User) -> Line:
    """Approve a line of a production server as a second operator, and resume it for its owner. Raise NotPossible, NotAllowed."""
    approvals.approve(line, user)
    line = _locked(line, user)
    if line.state == Line.State.PAUSED and line.state_reason:  # a person gives none
        line.state, line.state_reason = Line.State.ON, ""
        _check_schedule(line)
        line.save()
    return line


def _pause_unapproved(line: Line, user: User) -> None:
    """Pause a locked line that loads a production server without a valid approval, and ask the others for one."""
    if line.state != Line.State.ON or not (why := approvals.why_unapproved(line, database_now())):
        return
    pause_itself(line, why)
    _drop_waiting(line, why)
    approvals.ask_for_approval(line, user, reverse("line", args=[line.pk]))


@transaction.atomic
def end(line: Line, user: User) -> Line:
    """End a line for good; its readings stay. Raise NotPossible, NotAllowed."""
    line = _locked(line, user)
    line.state, line.state_reason, line.due_at = Line.State.ENDED, "", None
    _drop_waiting(line, "The line was ended.")
    return _save(line, Action.LINE_ENDED, user)


def pause_itself(line: Line, reason: str) -> None:
    """Pause a locked line without a person."""
    line.state, line.state_reason, line.due_at = Line.State.PAUSED, reason, None
    line.save(update_fields=["state", "state_reason", "due_at"])
    record(Action.LINE_PAUSED, user=None, subject=line, reason=reason)
    announce(
        Announcement.Kind.LINE_STOPPED,
        line.team,
        what=f"The line “{line}” is paused: {reason}",
        path=reverse("line", args=[line.pk]),
    )


@transaction.atomic
def pause_scheduled(reason: str) -> list[Line]:
    """Pause all lines with a schedule, as after the restoration of a backup; return them."""
    rows = Line.objects.filter(state=Line.State.ON).exclude(cron="")
    paused = list(rows.select_for_update(of=("self",), no_key=True).order_by("pk"))
    for line in paused:
        pause_itself(line, reason)
        _drop_waiting(line, reason)
    return paused


def description_of(line: Line) -> JsonObject:
    """Return the values that the revision of a line covers."""
    switch = line.switch.name if line.switch else ""
    return {name: getattr(line, name) for name in LineForm.Meta.fields} | {"switch": switch}


def expected_seconds(template: Template) -> float:
    """Return how long a campaign of a template takes, from earlier runs. Raise Invalid where it cannot be planned any more."""
    return preview(check(template.definition, templates.targets_of(template))).seconds


def _locked(line: Line, user: User) -> Line:
    row = Line.objects.select_for_update(of=("self",), no_key=True)
    line = row.select_related("template", "target", "team", "owner").get(pk=line.pk)
    require_right(user, line, Right.OPERATE)
    if line.state == Line.State.ENDED:
        raise NotPossible(f"The line “{line}” has ended. Begin another one with a campaign.")
    return line


def _require(line: Line, state: Line.State) -> None:
    if line.state != state:
        raise NotPossible(f"The line “{line}” is {line.get_state_display()}.")


def _clean(form: LineForm) -> dict[str, object]:
    if not form.is_valid():
        raise Invalid(messages_of(form))
    clean = dict(form.cleaned_data)
    clean["zone"] = clean.get("zone") or "UTC"
    clean["sessions_per_version"] = clean.get("sessions_per_version") or 1
    return clean


def _check_schedule(line: Line) -> None:
    """Find when a line is due next. Raise Invalid where it cannot be measured then."""
    if line.by_version and (why := _why_no_version(line)):
        raise Invalid({"by_version": [why]})
    if not line.cron:
        line.due_at = None
        return
    if line.template is None:
        raise Invalid(
            {
                "cron": [
                    "Its campaigns come from outside, so there is nothing to schedule. Leave it empty."
                ]
            }
        )
    try:
        occasions.check(line.cron, line.zone)
    except occasions.BadSchedule as error:
        raise Invalid({"cron": [str(error)]}) from None
    except BadQuietHours as error:
        raise Invalid({"zone": [str(error)]}) from None
    now = database_now()
    _check_room(line, now)
    line.due_at = (
        occasions.next_after(line.cron, line.zone, now) if line.state == Line.State.ON else None
    )


def _why_no_version(line: Line) -> str:
    if line.template is None:
        return "Its campaigns come from outside, so nothing sees a new version first. Leave it off."
    if not line.subject:
        return "The line is by time, so it knows no versions. Choose of what it tells the versions, or leave this off."
    return ""


def _check_room(line: Line, now: datetime) -> None:
    """Raise Invalid where a campaign never fits between quiet hours, or into the minutes of a week."""
    assert line.template is not None  # noqa: S101 - the caller has checked it
    seconds = expected_seconds(line.template)
    if seconds > 60 * line.minutes_a_week:
        raise Invalid(
            {
                "minutes_a_week": [
                    f"One campaign takes about {roughly(seconds)}, which is longer. Give more minutes."
                ]
            }
        )
    for target in quiet.setters(line.target) if line.target else []:
        try:
            free = occasions.longest_free(
                quiet.hours_of(target.quiet_hours), target.quiet_zone, now
            )
        except BadQuietHours:
            continue  # dispatch holds its runs back, and says why
        if free is not None and free < timedelta(seconds=ROOM * seconds):
            name = target_name(target, line.team_id)
            raise Invalid(
                {
                    "cron": [
                        f"The quiet hours of {name} leave at most {roughly(free.total_seconds())}, and a campaign needs about "
                        f"{roughly(ROOM * seconds)}: make the template smaller, or the quiet hours shorter."
                    ]
                }
            )


def _drop_waiting(line: Line, reason: str) -> None:
    waiting = line.occasions.filter(outcome=Occasion.Outcome.WAITS)
    waiting.update(outcome=Occasion.Outcome.SKIPPED, reason=reason)


def _save(line: Line, action: Action, user: User) -> Line:
    try:
        with transaction.atomic():
            line.save()
    except IntegrityError:
        what = f"versions of {line.subject}" if line.subject else "time"
        raise Invalid(
            {
                "subject": [
                    f"The team has an open line of this template and target by {what} already."
                ]
            }
        ) from None
    record(action, user=user, subject=line, **_recorded(line))
    return line


def _recorded(line: Line) -> JsonObject:
    return (
        {"versions_of": line.subject}
        | {name: getattr(line, name) for name in LineForm.Meta.fields if name != "name"}
        | {"switch": line.switch.name if line.switch else ""}
    )
