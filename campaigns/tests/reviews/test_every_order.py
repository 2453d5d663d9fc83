"""Whatever people do in whatever order: nothing is accepted that should not be."""

from collections import Counter

import pytest
from django.db import transaction
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from campaigns.findings import compute
from campaigns.findings.compute.findings import hash_now
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.rights import NotAllowed
from campaigns.models import AuditEvent, Campaign, Conclusion, Membership, Team
from campaigns.planning import lifecycle
from campaigns.planning.analyses import request_analysis
from campaigns.reviews.checklist import checklist
from campaigns.reviews.deciding import decide
from campaigns.reviews.drafting import edit
from campaigns.reviews.errors import ReviewRefused
from campaigns.reviews.freezing import data_hash_of
from campaigns.reviews.sending import send, withdraw
from campaigns.tests.people import somebody
from campaigns.tests.reviews.conftest import content, words_on

pytestmark = pytest.mark.django_db
REFUSED = (ReviewRefused, Invalid, NotAllowed, NotPossible)
PEOPLE = ("rob", "rita", "rob", "rita", "ann", "eve")
WORDS = ("approve", "approve", "approve", "approve", "reject")


class Review(RuleBasedStateMachine):
    """ann and eve write and may review, too; rob and rita review. A page may be an old one."""

    campaign: Campaign
    draft: Conclusion
    reached: Counter[str] = Counter()

    def __init__(self):
        super().__init__()
        self.before = transaction.savepoint()
        self.people = {name: somebody_once(name) for name in PEOPLE}
        self.pages = [self.page()]
        self.send("ann")

    def teardown(self):
        transaction.savepoint_rollback(self.before)

    def now(self):
        return Conclusion.objects.get(pk=self.draft.pk)

    def page(self):
        found = self.now()
        return {"revision": found.revision, "data_hash": data_hash_of(found)}

    def take(self, step):
        """Take a step; what is refused changes nothing."""
        try:
            with transaction.atomic():
                step()
        except REFUSED:
            return False
        return True

    @rule(name=st.sampled_from(("ann", "eve")))
    def edit(self, name):
        found = self.now()
        text = content(self.campaign, claim=f"{name} says.", words=words_on(found))
        self.take(lambda: edit(found.pk, self.people[name], text))

    @rule(name=st.sampled_from(("ann", "eve")))
    def send(self, name):
        asked = [self.people["rob"]]
        if self.take(lambda: send(self.draft.pk, self.people[name], asked)):
            self.pages.append(self.page())

    @rule(
        name=st.sampled_from(PEOPLE), word=st.sampled_from(WORDS), old=st.sampled_from((0, 0, 0, 1))
    )
    def decide(self, name, word, old):
        seen = self.pages[max(0, len(self.pages) - 1 - old)]
        current = self.page()
        if self.now().state == Conclusion.State.IN_REVIEW and seen != current:
            self.reached["an old page"] += 1
        if self.take(
            lambda: decide(
                self.draft.pk, self.people[name], word, reason="r", with_failed=True, **seen
            )
        ):
            assert seen == current
            assert name != "ann"
            assert not self.draft.writers.filter(username=name).exists()

    @rule(name=st.sampled_from(("ann", "eve")))
    def withdraw(self, name):
        self.take(lambda: withdraw(self.draft.pk, self.people[name], "r"))

    @rule(position=st.sampled_from((1, 5)))
    def exclude_or_include(self, position):
        run = self.campaign.runs.get(position=position)

        def step():
            if run.exclusions.filter(withdrawn_at=None).exists():
                lifecycle.include(run, self.people["ann"])
            else:
                lifecycle.exclude(run, self.people["ann"], "r")
            request_analysis(self.campaign)

        if self.take(step):
            compute.analyse(self.campaign)

    @rule(roles=st.sampled_from((["viewer"], ["reviewer"])))
    def change_a_role(self, roles):
        Membership.objects.filter(user=self.people["rob"]).update(roles=roles)

    @rule(needed=st.sampled_from((1, 2)))
    def change_the_rule(self, needed):
        Team.objects.filter(pk=self.draft.team_id).update(approvals_needed=needed)

    @invariant()
    def what_is_accepted_was_signed_by_others_on_the_data_of_now(self):
        found = self.now()
        if found.state != Conclusion.State.ACCEPTED:
            return
        self.reached["accepted"] += 1
        given = found.decisions.filter(revision=found.revision, word="approve")
        assert given.exists()
        for each in given.select_related("user"):
            assert each.user_id != found.author_id
            assert not found.writers.filter(pk=each.user_id).exists()
            assert each.data_hash == data_hash_of(found)
        assert data_hash_of(found) == hash_now(self.campaign)
        missing = [check for check in checklist(found) if check.state != "pass"]
        assert {check.key for check in missing} <= set(
            found.words.values_list("check_name", flat=True)
        )

    @invariant()
    def no_revision_is_accepted_twice(self):
        events = AuditEvent.objects.filter(
            action="conclusion_accepted", subject_key=self.draft.pk
        ).values_list("details__revision", flat=True)
        assert len(events) == len(set(events))


def somebody_once(name):
    found = Membership.objects.filter(user__username=name).select_related("user").first()
    if found is not None:
        return found.user
    roles = {"ann": ["admin"], "eve": ["author", "reviewer"]}.get(name, ["reviewer"])
    return somebody(name, *roles)


@pytest.mark.parametrize("examples", [10, pytest.param(60, marks=pytest.mark.nightly)])
def test_no_order_of_steps_accepts_what_should_not_be(draft, campaign, author, examples):
    Membership.objects.filter(user=author).update(roles=["admin"])
    Review.campaign, Review.draft, Review.reached = campaign, draft, Counter()

    run_state_machine_as_test(
        Review,
        settings=settings(
            max_examples=examples,
            stateful_step_count=14,
            derandomize=True,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )

    assert Review.reached.keys() == {"accepted", "an old page"}
