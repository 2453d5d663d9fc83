"""The outline of a campaign: its factors, and how its kind describes its runs."""

from django.forms.utils import pretty_name

from campaigns.kinds.base import Driver
from campaigns.kit.charts.labels import FactorOutline
from campaigns.models import Campaign
from campaigns.planning.metrics import driver_if_known
from campaigns.planning.roles import Role, is_asked, role_in


def factors_of(campaign: Campaign) -> tuple[FactorOutline, ...]:
    """Return the factors of a campaign, in their order."""
    driver = driver_if_known(campaign.kind)
    return tuple(
        FactorOutline(
            name=factor.name,
            label=_label(driver, factor.name),
            levels=tuple(level.value for level in factor.levels.all()),
            load=(factor.role or role_in(driver, factor.name)) == Role.LOAD
            or is_asked(driver, factor),
            unlimited=factor.unlimited,
        )
        for factor in campaign.factors.prefetch_related("levels")
    )


def sample_of(campaign: Campaign) -> str:
    """Return the kind's description of one sample of a run."""
    driver = driver_if_known(campaign.kind)
    return driver.sample if driver else Driver.sample


def rate_of(campaign: Campaign) -> tuple[str, str]:
    """Return name and unit of the rate that a run reports while it goes on."""
    driver = driver_if_known(campaign.kind)
    return driver.rate if driver else Driver.rate


def _label(driver: Driver | None, name: str) -> str:
    field = driver.parameters.base_fields.get(name) if driver else None
    return str(field.label) if field is not None and field.label else pretty_name(name)
