"""Make a check: a campaign of three runs, or two more of them."""

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kinds.registry import driver_of
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.models import Campaign, Target
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.fitness.checks import CHECKS, OF_FACTS, kind_of, label_of
from campaigns.planning.fitness.judging import FEWEST, MORE
from campaigns.planning.fitness.known import fitness_of, names_for

TAG = "fitness"
LONGEST_RUN_SECONDS = 6 * 3600.0


@transaction.atomic
def make_check(
    name: str,
    target: Target,
    user: User,
    directory: str = "",
    confirmed_name: str = "",
    scale: int | None = None,
) -> Campaign:
    """Launch the campaign that makes a check, and return it. Raise Invalid, NotPossible, NotConfirmed, NotAllowed.

    directory: of a check of storage. scale: of a database, of a check that leaves it free.
    """
    if name in OF_FACTS:
        raise Invalid(
            {
                "check": [
                    f"Any run of the kind {kind_of(name)} reads its facts: make another check of that kind."
                ]
            }
        )
    if name not in CHECKS:
        raise Invalid({"check": [f"There is no check “{name}”; there are {', '.join(CHECKS)}."]})
    if name not in names_for(target):
        why = f"The check {name} cannot be made of “{target.name}”:"
        if target.family not in driver_of(kind_of(name)).families:
            why += f" it is for another family of targets than {target.family}."
        else:
            why += " give its SSH login on the page of the target first."
        raise Invalid({"check": [why]})
    wanted = CHECKS[name]
    parameters = dict(wanted.parameters)
    if directory and "directory" in wanted.free:
        parameters["directory"] = directory
    if scale and "scale" in wanted.free:
        parameters["scale"] = scale
    definition = check(
        {
            **({"factors": {wanted.factor: list(wanted.levels)}} if wanted.factor else {}),
            "kind": wanted.kind,
            "question": f"Is {target.name} fit: {label_of(name)}?",
            "target": target.pk,
            "parameters": parameters,
            "primary_metric": wanted.metric,
            "order": Campaign.Order.INTERLEAVED,
            "repetitions": FEWEST,
            "run_limit_seconds": LONGEST_RUN_SECONDS,
            "tags": [TAG],
        },
        Target.objects.filter(team=target.team_id),
    )
    return lifecycle.launch(drafts.create(definition, user), user, confirmed_name)


def make_more(name: str, target: Target, user: User, confirmed_name: str = "") -> Campaign:
    """Add two runs to the campaign of a check that has not decided. Raise Invalid, NotPossible, NotConfirmed, NotAllowed."""
    if name not in CHECKS:
        raise Invalid({"check": [f"There is no check “{name}”; there are {', '.join(CHECKS)}."]})
    (known,) = fitness_of(target, [name])
    if known.campaign is None:
        raise NotPossible(f"The check {name} of {target.name} was never made; make it first.")
    if not known.undecided:
        raise NotPossible(
            f"The check {name} of {target.name} is {known.outcome}; no more runs are needed."
        )
    return lifecycle.extend(Campaign.objects.get(pk=known.campaign), MORE, user, confirmed_name)
