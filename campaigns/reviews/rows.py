"""Lock conclusions, and check rights on them."""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db.models import QuerySet

from campaigns.kit import rights
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Conclusion, Membership, Team


def locked(key: int) -> Conclusion:
    """Read a conclusion anew and lock it, and the one that it supersedes, until the transaction ends.

    Raise Conclusion.DoesNotExist.
    """
    older = Conclusion.objects.filter(pk=key).values_list("supersedes", flat=True).first()
    rows = Conclusion.objects.select_for_update(no_key=True, of=("self",))
    result = {
        row.pk: row
        for row in rows.select_related("team", "author")
        .filter(pk__in=[pk for pk in (older, key) if pk])
        .order_by("pk")
    }
    if key not in result:
        raise Conclusion.DoesNotExist
    return result[key]


def lock_campaigns(keys: Iterable[int]) -> None:
    """Let nobody exclude, amend, extend or append until the transaction ends."""
    rows = Campaign.objects.select_for_update(no_key=True).filter(pk__in=set(keys))
    list(rows.order_by("pk").values_list("pk", flat=True))


def campaigns_of(conclusion: Conclusion) -> QuerySet[Campaign]:
    """The campaigns that it rests on, each once."""
    rows = Campaign.objects.filter(pk__in=conclusion.evidence.values("campaign"))
    return rows.select_related("target", "team").order_by("pk")


def require(user: User, conclusion: Conclusion, right: Right) -> None:
    """Raise NotVisible or NotAllowed; whoever may not see all of the evidence sees nothing of it.

    His membership is locked, so that no role is taken away between this look and what follows.
    """
    list(
        Membership.objects.select_for_update(no_key=True)
        .filter(team=conclusion.team_id, user=user.pk)
        .values_list("pk")
    )
    require_to_see(user, conclusion)
    rights.require(user, conclusion.team_id, right)


def require_to_see(user: User, conclusion: Conclusion) -> None:
    """Raise NotVisible unless he sees the conclusion and every campaign that it rests on."""
    rights.require(user, conclusion.team_id, Right.SEE)
    require_campaigns(user, campaigns_of(conclusion))


def require_campaigns(user: User, campaigns: Iterable[Campaign]) -> None:
    """Raise NotVisible where he may not see one of them."""
    for team in {campaign.team for campaign in campaigns}:
        rights.require(user, team, Right.SEE)


def may_review(user: User, conclusion: Conclusion) -> bool:
    """Return whether somebody's decision on it would count today."""
    if conclusion.writers.filter(pk=user.pk).exists() or conclusion.author_id == user.pk:
        return False
    teams = {campaign.team for campaign in campaigns_of(conclusion)}
    return rights.may(user, conclusion.team_id, Right.REVIEW) and all(
        rights.may(user, team, Right.SEE) for team in teams
    )


def possible_reviewers(conclusion: Conclusion) -> list[User]:
    """Members who may be asked, by name: none of them wrote it, all of them see its evidence."""
    return [user for user in members_who_review(conclusion.team) if may_review(user, conclusion)]


def members_who_review(team: Team) -> QuerySet[User]:
    """Members of a team with the right to review."""
    return rights.people_with(team, Right.REVIEW)


def people_of(conclusion: Conclusion) -> set[User]:
    """Whom it concerns: who wrote it, who is asked, who decided on it."""
    writers = set(conclusion.writers.all()) | {conclusion.author}
    requested = {each.user for each in conclusion.reviewers.select_related("user")}
    return writers | requested | {each.user for each in conclusion.decisions.select_related("user")}
