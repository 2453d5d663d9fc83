"""The outline of a campaign: its factors, and how its kind describes its runs."""

from collections.abc import Iterable

from campaigns.kinds.base import Driver
from campaigns.kinds.base.values import BLIND_LABEL, TARGET
from campaigns.kit.charts.labels import FactorOutline, as_asked, called, inside, words_of
from campaigns.models import Campaign, Setting
from campaigns.planning.metrics import driver_if_known
from campaigns.planning.roles import Role, is_asked, role_in


def factors_of(campaign: Campaign) -> tuple[FactorOutline, ...]:
    """Return the factors of a campaign, in their order."""
    driver = driver_if_known(campaign.kind)
    factors = list(campaign.factors.prefetch_related("levels"))
    labels = labels_of(campaign, driver, [factor.name for factor in factors])
    return tuple(
        FactorOutline(
            name=factor.name,
            label=labels[factor.name],
            levels=tuple(level.value for level in factor.levels.all()),
            load=(factor.role or role_in(driver, factor.name)) == Role.LOAD
            or is_asked(driver, factor),
            unlimited=factor.unlimited,
        )
        for factor in factors
    )


def sample_of(campaign: Campaign) -> str:
    """Return the kind's description of one sample of a run."""
    driver = driver_if_known(campaign.kind)
    return driver.sample if driver else Driver.sample


def rate_of(campaign: Campaign) -> tuple[str, str]:
    """Return name and unit of the rate that a run reports while it goes on."""
    driver = driver_if_known(campaign.kind)
    return driver.rate if driver else Driver.rate


def labels_of(campaign: Campaign, driver: Driver | None, names: Iterable[str]) -> dict[str, str]:
    """Return how people call parameters of a kind and settings of the targets; what nobody has labelled is its name in words.

    A load is called as the question calls it.
    """
    wanted = list(names)
    own = driver.parameters.base_fields if driver else {}
    result = {
        name: driver.label_of(name) if driver and name in own else called(name) for name in wanted
    }
    for name in driver.load if driver else ():
        if name in result:
            result[name] = as_asked(result[name], campaign.question)
    others = [name for name in wanted if name not in own and name not in (BLIND_LABEL, TARGET)]
    if others and not campaign.source:
        rows = Setting.objects.filter(target__in=campaign.targets, name__in=others)
        result |= {row.name: row.label for row in rows.exclude(label="")}
    return result


def nouns_of(campaign: Campaign) -> dict[str, str]:
    """Return what sentences call a factor that has another name for people than in code: a load as it is asked for, a labelled setting."""
    driver = driver_if_known(campaign.kind)
    if driver is None or not driver.executable:
        return {}
    names = [factor.name for factor in campaign.factors.all()]
    own = driver.parameters.base_fields
    result: dict[str, str] = {}
    for name, label in labels_of(campaign, driver, names).items():
        noun = inside(label)
        is_called = name not in own or noun != inside(driver.label_of(name))
        if is_called and noun not in (words_of(name), *names, *result.values()):
            result[name] = noun
    return result
