"""Templates of teams: save a definition as one, create a draft from one."""

from django import forms
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import form_field, messages_of
from campaigns.kit.mappings import FieldValues, JsonObject
from campaigns.models import Campaign, Target, Template
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check
from campaigns.planning.metrics import driver_if_known

OF_ONE_CAMPAIGN = ("name", "seed")
"""Fields that a template does not hold: each campaign gets its own."""


class TemplateForm(forms.ModelForm):
    """The name and description of a template."""

    class Meta:
        model = Template
        formfield_callback = form_field
        fields = ("name", "notes")
        widgets = {"notes": forms.Textarea(attrs={"rows": 3})}


class NoTemplate(ValueError):
    """The campaign or template does not allow this; the message explains why."""


def make_template(campaign: Campaign, data: FieldValues, user: User) -> Template:
    """Store the definition of a campaign, without its results, as a template of its team. Raise Invalid, NoTemplate."""
    driver = driver_if_known(campaign.kind)
    if driver is None or not driver.executable:
        raise NoTemplate("Its runs came from outside; campaigns like it are submitted, not begun.")
    clean = _clean(data)
    definition = storage.definition_of(campaign)
    for name in OF_ONE_CAMPAIGN:
        definition.pop(name, None)
    template = Template(team=campaign.team, definition=definition, made_by=user, **clean)
    return _saved(template, Action.TEMPLATE_CREATED, user)


def description_of(template: Template) -> JsonObject:
    """Return the values that the revision of a template covers: its name and description."""
    return {name: getattr(template, name) for name in TemplateForm.Meta.fields}


def change_template(template: Template, data: FieldValues, user: User) -> Template:
    """Change the name or the notes of a template, and return it. Raise Invalid, NoTemplate."""
    _require_in_use(template)
    for name, value in _clean(data).items():
        setattr(template, name, value)
    return _saved(template, Action.TEMPLATE_EDITED, user)


@transaction.atomic
def retire_template(template: Template, user: User) -> Template:
    """Retire a template: no further campaign begins with it; those that did still name it."""
    if Template.objects.filter(pk=template.pk, retired_at=None).update(retired_at=Now()):
        record(Action.TEMPLATE_RETIRED, user=user, subject=template)
    template.refresh_from_db()
    return template


@transaction.atomic
def begin(template: Template, changes: FieldValues, user: User) -> Campaign:
    """Create a draft from a template with changes. Raise Invalid, NoTemplate.

    changes: fields of a definition; parameters are replaced one by one, other fields as a whole.
    The target is one of the template's team.
    """
    _require_in_use(template)
    data = {**template.definition, **changes}
    if "targets" in changes or "target" in changes:  # either names all of them
        data |= {"target": None, "targets": None, **changes}
    data = storage.with_parameters(data, template.definition["parameters"], changes)
    known = targets_of(template)
    several = data.get("targets")
    for key in several if isinstance(several, list) and several else [data.get("target")]:
        if not known.filter(pk=key if isinstance(key, int) else 0).exists():
            path = "targets" if several else "target"
            raise Invalid({path: ["Choose a target of the template's team that is in use."]})
    campaign = drafts.create(check(data, known), user)
    Campaign.objects.filter(pk=campaign.pk).update(template=template)
    campaign.refresh_from_db()
    return campaign


def targets_of(template: Template) -> QuerySet[Target]:
    """Return the targets that a campaign from the template may have, by name."""
    driver = driver_if_known(template.definition["kind"])
    families = driver.families if driver else ()
    rows = Target.objects.filter(team=template.team, retired_at=None, family__in=families)
    return rows.order_by("name")


def _require_in_use(template: Template) -> None:
    if template.retired_at is not None:
        raise NoTemplate(f"The template “{template.name}” was retired.")


def _clean(data: FieldValues) -> dict[str, str]:
    form = TemplateForm(data)
    if not form.is_valid():
        raise Invalid(messages_of(form))
    return dict(form.cleaned_data)


def _saved(template: Template, action: Action, user: User) -> Template:
    try:
        with transaction.atomic():
            template.save()
            record(action, user=user, subject=template)
    except IntegrityError:
        text = f"The team has a template “{template.name}” already: choose another name."
        raise Invalid({"name": [text]}) from None
    template.refresh_from_db()
    return template
