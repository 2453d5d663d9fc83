import pytest
from django.urls import reverse

from campaigns.kinds.base import REFUSED
from campaigns.models import Attempt, Campaign, Run, Setting, Target, Worker
from campaigns.planning import drafts, lifecycle
from campaigns.planning.checking import check
from campaigns.planning.design import FIELDS
from campaigns.tests.browsing import Page
from campaigns.tests.measured import begin
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

NEW = "/campaigns/new/"
PLAN = "/campaigns/plan/"


@pytest.fixture
def sent(target):
    """Two engines, two numbers of workers, three blocks: 12 runs."""
    return {
        "kind": "toy",
        "question": "Is the new engine faster?",
        "name": "",
        "tags": "knee, first",
        "target": str(target.pk),
        "primary_metric": "duration",
        "p-path": "/a",
        "vary-engine": "on",
        "levels-engine": ["new", "old"],
        "vary-workers": "on",
        "levels-workers": "1\r\n2",
        "excluded": "",
        "order": "interleaved",
        "paired_factor": "",
        "baseline": "",
        "repetitions": "3",
        "warm_ups": "0",
        "cool_down_seconds": "0",
        "run_limit_seconds": "60",
        "seed": "7",
        "smallest_effect_percent": "5",
        "margin_percent": "2",
        "stop_rule": "fixed",
    }


def press(browser, path, sent, act, **changes):
    """Send the form with one of its buttons."""
    return browser.post(path, sent | changes | {"act": act})


def test_the_form_shows_kind_target_parameters_and_a_plan(browser, target):
    page = Page(browser.get(NEW, {"kind": "toy"}))

    assert [field["value"] for field in page.named("kind") if "checked" in field] == ["toy"]
    assert page.named("p-workers")[0]["value"] == "4"
    assert page.named("vary-engine")
    assert not page.named("vary-note")
    assert "No plan yet" in page.text  # a path has to be given


def test_every_field_of_the_design_is_drawn(browser, target):
    actions = {"apply": {"way": "manual", "words": "Set it."}, "read_back": {"way": "manual"}}
    Setting.objects.create(target=target, name="depth", type="integer", **actions)
    page = Page(browser.get(NEW, {"kind": "toy"}))

    of_a_build = {"anew"}
    assert {name for name in FIELDS if not page.named(name)} == of_a_build


def test_a_target_in_the_address_chooses_the_kind(browser, target):
    page = browser.get(NEW, {"target": target.pk, "kind": "nonsense"})

    assert page.context["form"].design["target"].value() == str(target.pk)


@pytest.mark.parametrize(
    "query", ["kind=%00", "target=%ff", "target=99999999999999999999999", f"target={'9' * 5000}"]
)
def test_odd_addresses_show_the_form(browser, target, query):
    assert browser.get(f"{NEW}?{query}").status_code == 200


def test_save_draft_stores_and_sends_nothing(browser, sent):
    answer = press(browser, NEW, sent, "save")

    stored = Campaign.objects.get()
    assert answer["Location"] == reverse("campaign", args=[stored.pk])
    assert (stored.state, stored.tags, stored.seed) == ("draft", ["knee", "first"], 7)
    assert stored.cells.count() == 4
    assert not stored.runs.exists()


def test_lock_and_launch_plans_the_runs_and_dispatches(browser, sent, person, worker):
    press(browser, NEW, sent, "launch")

    stored = Campaign.objects.get()
    assert (stored.state, stored.author) == ("running", person)
    assert stored.runs.count() == 12
    assert Attempt.objects.filter(state="queued").count() == 1


def test_save_and_try_one_run_plans_a_try_out(browser, sent):
    press(browser, NEW, sent, "try")

    (run,) = Campaign.objects.get().runs.all()
    assert run.purpose == Run.Purpose.TRIAL


def test_a_launch_that_is_refused_leaves_a_draft_and_says_why(browser, sent, settings):
    settings.OWNER_CONFIRMS = False

    answer = browser.post(NEW, sent | {"act": "launch"}, follow=True)

    stored = Campaign.objects.get()
    assert stored.state == "draft"
    assert answer.redirect_chain[0][0] == reverse("campaign-edit", args=[stored.pk])
    assert "Saved as a draft." in Page(answer).text


def test_enter_in_a_field_launches_nothing(browser, sent):
    page = Page(browser.get(NEW))
    buttons = [a for tag, a in page.elements if tag == "button" and a.get("name") == "act"]

    answer = press(browser, NEW, sent, "preview")

    assert buttons[0]["value"] == "preview"
    assert answer.status_code == 200
    assert not Campaign.objects.exists()
    assert "12 runs" in Page(answer).text


def test_another_kind_is_chosen_without_script(browser, sent):
    answer = press(browser, NEW, sent, "kind", kind="downloader")

    page = Page(answer)
    assert answer.status_code == 200
    assert page.named("p-concurrency")
    assert not page.named("p-workers")
    assert "Is the new engine faster?" in page.text


BAD = [
    ("question", "", "question"),
    ("question", "x" * 10_000, "question"),
    ("question", "a\x00b", "question"),
    ("name", "x" * 10_000, "name"),
    ("name", "a\u202eb", "name"),
    ("tags", "x" * 50, "tags"),
    ("target", "", "target"),
    ("target", "99999999999999999999999", "target"),
    ("target", "<b>", "target"),
    ("primary_metric", "beauty", "primary_metric"),
    ("p-path", "", "p-path"),
    ("p-slow", "much", "p-slow"),
    ("p-slow", "9", "p-slow"),
    ("p-slow", "nan", "p-slow"),
    ("p-note", "a\x00b", "p-note"),
    ("levels-workers", "", "levels-workers"),
    ("levels-workers", "many", "levels-workers"),
    ("levels-workers", "1\n1", "levels-workers"),
    ("levels-workers", "1e400 -5", "levels-workers"),
    ("levels-engine", [], None),
    ("levels-engine", ["new", "steam"], None),
    ("excluded", "engine", "excluded"),
    ("excluded", "engine=steam", "excluded"),
    ("excluded", "engine=new\nengine=old", "excluded"),
    ("repetitions", "0", "repetitions"),
    ("repetitions", "-3", "repetitions"),
    ("repetitions", "many", "repetitions"),
    ("repetitions", "999999999999", "repetitions"),
    ("repetitions", "", "repetitions"),
    ("warm_ups", "1.5", "warm_ups"),
    ("cool_down_seconds", "inf", "cool_down_seconds"),
    ("run_limit_seconds", "0", "run_limit_seconds"),
    ("seed", "9" * 30, "seed"),
    ("smallest_effect_percent", "0", "smallest_effect_percent"),
    ("margin_percent", "50", "margin_percent"),
    ("order", "alphabetical", None),
    ("stop_rule", "never", None),
    ("kind", "nonsense", None),
    ("kind", "external", None),
]


@pytest.mark.parametrize(("field", "value", "marked"), BAD)
def test_each_error_stands_beside_its_field_and_nothing_is_stored(
    browser, sent, field, value, marked
):
    answer = press(browser, NEW, sent, "launch", **{field: value})

    page = Page(answer)
    assert answer.status_code == 422
    assert "alert" in [attributes.get("role") for _, attributes in page.elements]
    assert not Campaign.objects.exists()
    if marked:
        (element,) = page.named(marked)
        assert element["aria-invalid"] == "true"
        described = (element["aria-describedby"] or "").split()
        ids = {attributes.get("id") for _, attributes in page.elements}
        assert described
        assert set(described) <= ids


@pytest.mark.parametrize(("field", "value", "marked"), BAD)
def test_the_live_plan_says_in_words_what_is_wrong(browser, sent, field, value, marked):
    answer = browser.post(PLAN, sent | {field: value})

    assert answer.status_code == 200
    if field == "question" and value == "":
        assert "12 runs" in Page(answer).text
    else:
        assert "No plan yet" in Page(answer).text


def test_what_was_typed_stays_with_its_errors(browser, sent):
    answer = press(
        browser,
        NEW,
        sent,
        "save",
        repetitions="none",
        question="<script>alert('x')</script>",
        **{"levels-workers": "1\r\nmany", "excluded": "a"},
    )

    page = Page(answer)
    assert page.named("repetitions")[0]["value"] == "none"
    assert "<script>alert" not in answer.content.decode()
    assert "<script>alert('x')</script>" in page.text
    assert "many" in page.text
    checked = [field["value"] for field in page.named("levels-engine") if "checked" in field]
    assert checked == ["new", "old"]


def test_ten_thousand_cells_are_refused(browser, sent):
    many = "\n".join(str(number) for number in range(1, 501))

    answer = press(
        browser,
        NEW,
        sent,
        "launch",
        **{"levels-workers": many, "vary-slow": "on", "levels-slow": "1 2 3 4 5"},
    )

    assert answer.status_code == 422
    assert "cells; at most" in Page(answer).text


def test_a_paired_order_asks_for_its_factor(browser, sent):
    answer = press(browser, NEW, sent, "save", order="paired")

    assert answer.status_code == 422
    assert Page(answer).named("paired_factor")[0]["aria-invalid"] == "true"

    press(browser, NEW, sent, "save", order="paired", paired_factor="engine", baseline="old")

    stored = Campaign.objects.get()
    assert (stored.paired_factor, stored.baseline) == ("engine", "old")


def test_a_baseline_that_is_no_level_is_said(browser, sent):
    answer = press(
        browser, NEW, sent, "save", order="paired", paired_factor="engine", baseline="steam"
    )

    assert Page(answer).named("baseline")[0]["aria-invalid"] == "true"


def test_fields_of_strange_names_are_left_aside(browser, sent):
    strange = {"p-": "x", "levels-__class__": "1", "vary-<b>": "on", "factors[a]": "b", "\x00": "c"}

    assert press(browser, NEW, sent, "save", **strange).status_code == 302


def test_bytes_that_are_no_text_get_an_answer(browser, sent):
    body = b"kind=toy&question=%ff%fe%80&act=save&levels-workers=\xff\xfe"

    answer = browser.post(NEW, body, content_type="application/x-www-form-urlencoded")

    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("body", "status", "limit"),
    [
        (b"x" * 3_000_000, 413, "2.5 MB"),
        (b"&".join(b"a%d=1" % number for number in range(2000)), 400, "1,000 fields"),
    ],
)
def test_a_huge_post_is_refused_with_a_page(browser, body, status, limit, settings):
    settings.DEBUG = False

    answer = browser.post(NEW, body, content_type="application/x-www-form-urlencoded")

    assert answer.status_code == status
    assert limit in answer.content.decode()


def test_the_live_plan_is_stable_while_one_types(browser, sent):
    first = browser.post(PLAN, sent)
    second = browser.post(PLAN, sent | {"question": "Is it, now?"})

    assert first.content == second.content
    assert "4 × 3" in Page(first).text
    assert Page(first).by_id("plan-status")["hx-swap-oob"] == "innerHTML"


def test_the_live_plan_says_where_its_time_comes_from(browser, sent):
    assert "an estimate of the kind" in Page(browser.post(PLAN, sent)).text


def test_a_draft_is_edited_with_its_values(browser, draft):
    path = reverse("campaign-edit", args=[draft.pk])

    page = Page(browser.get(path))

    assert page.named("seed")[0]["value"] == "5"
    assert "checked" in page.named("vary-engine")[0]
    assert "6 runs" in page.text


@pytest.mark.parametrize("stored", ["", "fixed"])
@pytest.mark.parametrize("name", ["campaign-edit", "campaign-clone"])
def test_the_stop_rule_is_chosen_whatever_is_stored(browser, draft, name, stored):
    Campaign.objects.filter(pk=draft.pk).update(stop_rule=stored)

    rules = Page(browser.get(reverse(name, args=[draft.pk]))).named("stop_rule")
    (rule,) = [each for each in rules if "checked" in each]

    assert rule["value"] == "fixed"


def test_the_buttons_stand_above_the_plan_that_grows_and_shrinks(browser, target):
    page = browser.get(reverse("campaign-new")).content.decode()

    assert page.index('value="launch"') < page.index('id="plan"')


def test_a_parameter_names_the_value_that_nobody_chose(browser, target):
    page = Page(browser.get(reverse("campaign-new")))

    initial = {a["data-levels"]: a["data-initial"] for _, a in page.elements if "data-levels" in a}

    assert initial
    assert all(page.named(f"p-{name}")[0].get("value") == text for name, text in initial.items())


def test_an_edit_replaces_the_draft(browser, draft, sent):
    press(browser, reverse("campaign-edit", args=[draft.pk]), sent, "save", question="Another?")

    stored = Campaign.objects.get()
    assert (stored.pk, stored.question, stored.cells.count()) == (draft.pk, "Another?", 4)


def test_a_launched_campaign_is_not_edited(browser, draft, person, sent):
    path = reverse("campaign-edit", args=[draft.pk])
    lifecycle.launch(draft, person)

    for answer in (browser.get(path), press(browser, path, sent, "save")):
        assert answer["Location"] == reverse("campaign", args=[draft.pk])
    assert Campaign.objects.get().question == "Is the new engine faster?"


def test_a_clone_begins_with_the_same_definition(browser, draft, person):
    lifecycle.launch(draft, person)
    path = reverse("campaign-clone", args=[draft.pk])

    page = browser.get(path)
    form = page.context["form"]

    assert form.design["seed"].value() == "5"
    assert draft.name in Page(page).text
    assert [row.varied for row in form.parameters.fitting if row.name == "engine"] == [True]


@pytest.mark.parametrize(("name", "level"), [("workers", 4), ("engine", "old")])
def test_what_the_target_refused_stands_beside_its_field(browser, draft, person, name, level):
    attempt = begin(lifecycle.launch(draft, person).runs.first())
    for asked in (level, "not in the form"):
        attempt.effective_settings.create(
            name=name, asked=asked, in_force=f"{REFUSED}Ensure <this>.", ok=False
        )

    answer = browser.get(reverse("campaign-clone", args=[draft.pk]))

    form = answer.context["form"]
    told = f"The target refused {'old' if name == 'engine' else 'this'}: Ensure <this>."
    assert {row.name: row.errors for row in form.parameters.fitting if row.errors} == {name: [told]}
    assert (answer.status_code, form.problems) == (200, [])
    assert told in Page(answer).text


def test_a_clone_is_a_campaign_of_its_own(browser, draft, person, sent):
    lifecycle.launch(draft, person)

    press(browser, reverse("campaign-clone", args=[draft.pk]), sent, "save")

    clone, original = Campaign.objects.order_by("-pk")
    assert (clone.state, original.state) == ("draft", "running")
    assert clone.clone_of == original


def test_what_came_from_outside_is_not_cloned(browser, draft):
    Campaign.objects.filter(pk=draft.pk).update(kind="external")

    answer = browser.get(reverse("campaign-clone", args=[draft.pk]))

    assert answer["Location"] == reverse("campaign", args=[draft.pk])


def test_a_campaign_of_a_retired_target_is_cloned_to_another(browser, draft, target):
    target.retired_at = draft.created_at
    target.save()

    page = Page(browser.get(reverse("campaign-clone", args=[draft.pk])))

    assert "there is none yet" in page.text
    assert "The target “toy server” cannot be measured any more; none is chosen here." in page.text


@pytest.mark.parametrize("name", ["campaign-clone", "campaign-edit"])
def test_another_target_is_not_chosen_without_a_word(browser, draft, target, name):
    place = {"base_url": "http://127.0.0.1:8", "address": "127.0.0.1:8"}
    other = Target.objects.create(name="other", family="http", **place)
    Target.objects.filter(pk=target.pk).update(retired_at=draft.created_at)

    page = browser.get(reverse(name, args=[draft.pk]))

    assert page.context["form"].design["target"].value() == str(other.pk)
    told = "The target “toy server” cannot be measured any more; “other” is chosen here."
    assert told in Page(page).text


@pytest.fixture
def with_settings(target, person):
    """A draft that varies one choice of its target and holds another; then both lose their values."""
    values = {"type": "choice", "choices": ["a", "b", "c"], "apply": {}, "read_back": {}}
    for name in ("held", "varied", "other"):
        Setting.objects.create(name=name, target=target, **values)
    sent = {
        "parameters": {"path": "/a", "held": "b", "other": "a"},
        "factors": {"varied": ["a", "b"]},
        "order": "interleaved",
    }
    draft = drafts.create(check(definition(target=target.pk, **sent)), person)
    Setting.objects.exclude(name="other").update(choices=["a", "c"])
    return draft


@pytest.mark.parametrize("name", ["campaign-clone", "campaign-edit"])
def test_a_value_that_is_no_choice_any_more_is_shown_with_its_error(browser, with_settings, name):
    path = reverse(name, args=[with_settings.pk])

    answer = browser.get(path)

    page, form = Page(answer), answer.context["form"]
    rows = {row.name: row for fold in form.parameters.folds for row in fold.rows}
    why = "Select a valid choice. b is not one of the available choices."
    assert (rows["held"].errors, rows["varied"].errors) == ([why], [f"“b”: {why}"])
    assert rows["other"].errors == []
    (held,) = [a for tag, a in page.elements if tag == "option" and a["value"] == "b"
               and "selected" in a]  # fmt: skip
    assert "disabled" not in held
    boxes = [box["value"] for box in page.named("levels-varied") if "checked" in box]
    assert boxes == ["a", "b"]
    assert page.text.count("no choice any more") == 2


def test_a_setting_that_went_is_not_left_out_without_a_word(browser, with_settings):
    Setting.objects.exclude(name="other").delete()

    page = Page(browser.get(reverse("campaign-clone", args=[with_settings.pk])))

    assert "What is chosen here has no held, varied: left out, also where it varied." in page.text


def test_what_is_taken_over_as_it_was_needs_no_word(browser, draft):
    page = Page(browser.get(reverse("campaign-clone", args=[draft.pk])))

    assert "any more" not in page.text
    assert "What is chosen here" not in page.text


def test_a_metric_that_went_is_not_replaced_without_a_word(browser, draft):
    Campaign.objects.filter(pk=draft.pk).update(primary_metric="speed")

    page = Page(browser.get(reverse("campaign-clone", args=[draft.pk])))

    assert "There is no metric speed any more; duration is the primary metric here." in page.text


def test_limits_are_said_in_words_and_follow_what_is_typed(browser, sent):
    page = Page(browser.get(NEW, {"kind": "toy"}))
    typed = browser.post(
        PLAN, sent | {"time_budget_seconds": "8 h", "max_consecutive_failures": "many"}
    )

    assert (
        "pauses automatically after 5 failures in a row or when more than 50 % failed" in page.text
    )
    assert "no time budget" in page.text
    assert "pauses automatically when more than 50 % failed; ends after 8 h" in Page(typed).text
    assert "failures in a row" not in Page(typed).text


def test_limits_are_stored_and_a_clone_begins_with_them(browser, sent):
    limits = {
        "time_budget_seconds": "90 min",
        "max_failed_percent": "20",
        "max_consecutive_failures": "2",
    }

    press(browser, NEW, sent | limits, "save")
    stored = Campaign.objects.get()
    clone = Page(browser.get(reverse("campaign-clone", args=[stored.pk])))

    assert stored.time_budget_seconds == 5400
    assert (stored.max_failed_share, stored.max_consecutive_failures) == (0.2, 2)
    assert clone.by_id("f-time_budget_seconds")["value"] == "1 h 30 min"
    assert clone.by_id("f-max_failed_percent")["value"] == "20"
    assert clone.by_id("f-max_consecutive_failures")["value"] == "2"


def test_the_limits_are_unfolded_where_one_of_them_is_wrong(browser, sent):
    answer = press(browser, NEW, sent, "save", time_budget_seconds="soon")

    page = Page(answer)
    assert answer.status_code == 422
    assert "open" in page.by_id("limits")
    assert page.by_id("f-time_budget_seconds")["aria-invalid"] == "true"
    assert "“soon” is no span of time" in page.text


def test_the_pool_of_workers_is_chosen_stored_shown_and_cloned(browser, sent):
    Worker.objects.create(name="near@there", host="there", pools=["near"])
    form = browser.get(NEW, {"kind": "toy"}).content.decode()
    assert '<option value="near">' in form

    press(browser, NEW, sent, "save", pool="near")

    campaign = Campaign.objects.get()
    assert campaign.pool == "near"
    assert "measured by the pool “near”" in Page(browser.get(f"/campaigns/{campaign.pk}/")).text
    clone = Page(browser.get(reverse("campaign-clone", args=[campaign.pk])))
    assert clone.by_id("f-pool")["value"] == "near"


def test_a_pool_that_measures_nothing_is_refused_beside_its_field(browser, sent):
    page = Page(press(browser, NEW, sent, "save", pool="control"))

    assert "The workers of “control” do not measure" in page.text
    assert page.by_id("f-pool")["aria-invalid"] == "true"
    assert "open" in page.by_id("limits")
    assert not Campaign.objects.exists()


@pytest.mark.parametrize(
    ("changes", "is_open"),
    [
        ({}, False),
        ({"p-path": "/b"}, False),
        ({"p-note": "cold"}, True),
        ({"p-note": "a\x00b"}, True),
        ({"p-careful": "on"}, True),
    ],
)
def test_parameters_that_are_not_essential_fold_until_one_is_touched(
    browser, sent, toy, monkeypatch, changes, is_open
):
    monkeypatch.setattr(type(toy), "essential", ("engine", "workers", "slow", "path"))

    rows = press(browser, NEW, sent, "preview", **changes).context["form"].parameters

    (fold,) = rows.folds
    assert (fold.title, fold.is_open) == ("More parameters", is_open)
    assert [row.label for row in fold.rows] == ["Careful", "Note"]
    assert [row.label for row in rows.essential] == ["Engine", "Workers", "Slow", "Path"]


def test_an_error_has_the_label_and_leads_to_its_field(browser, sent):
    answer = press(browser, NEW, sent, "save", **{"levels-workers": "1 many", "seed": "x"})

    assert "Fix 2 errors" in Page(answer).text
    problems = {(each.label, each.anchor) for each in answer.context["form"].problems}
    assert problems == {("Workers", "row-workers"), ("Seed", "f-seed")}
    assert answer.context["form"].open == {
        "name": True, "rules": False, "pace": True, "contrast": False,
    }  # fmt: skip


def test_another_kind_takes_over_what_fits_it_alone(browser, sent):
    old = {"kind": "http", "drawn_for": "downloader", "p-processes": "automatic", "excluded": "engine=curl",
           "paired_factor": "engine", "vary-processes": "on", "levels-processes": ["1", "2"]}  # fmt: skip

    form = press(browser, NEW, sent, "kind", **old).context["form"]

    rows = {row.name: row for row in form.parameters.fitting}
    assert (rows["processes"].value, rows["processes"].varied) == ("", False)
    assert not form.design["excluded"].value()
    assert not form.design["paired_factor"].value()
    assert [problem.label for problem in form.problems] == []


@pytest.mark.parametrize(
    ("typed", "kept"), [("25", "25"), ("10", "10"), ("99999", "10"), ("many", "10")]
)
def test_a_number_that_somebody_typed_goes_over_to_another_kind_that_takes_it(
    browser, sent, typed, kept
):
    changes = {"kind": "http", "drawn_for": "registration", "p-hosts": typed, "p-rate": "2"}

    form = press(browser, NEW, sent, "kind", **changes).context["form"]

    values = {row.name: row.value for row in form.parameters.fitting}
    assert (values["hosts"], values["rate"]) == (kept, "2")
    assert values["timeout_seconds"] == "30"  # that of the kind, not 180 of a registration


def test_a_pair_of_two_levels_fills_its_baseline_and_contrast(browser, sent):
    pair = {key: value for key, value in sent.items() if "workers" not in key}
    pair |= {"order": "paired"}

    live = Page(browser.post(PLAN, pair))
    press(browser, NEW, pair, "save")

    stored = Campaign.objects.get()
    contrast = {"factor": "engine", "candidate": "old", "baseline": "new", "at": {}}
    assert (stored.baseline, stored.primary_contrast) == ("new", contrast)
    chosen = [a.get("value") for tag, a in live.elements if tag == "option" and "selected" in a]
    assert chosen == ["new", "engine=old", "engine=new", ""]

    press(
        browser,
        NEW,
        pair | {"baseline": "old", "vary-workers": "on", "levels-workers": "1 3 5"},
        "save",
    )

    assert Campaign.objects.latest("pk").primary_contrast in (
        None,
        {},
    )  # strata: which of them asks


def test_a_parameter_that_begins_to_vary_has_its_value_as_the_first_level(browser, sent):
    page = Page(press(browser, NEW, sent, "preview", **{"levels-workers": "", "p-workers": "6"}))

    assert "1 × 3" not in page.text
    (box,) = [a for _, a in page.elements if a.get("name") == "levels-workers"]
    assert page.text.count("2 × 3") == 1
    assert "aria-invalid" not in box


def test_the_keyboard_skips_from_the_top_to_the_buttons(browser, target):
    page = Page(browser.get(NEW))

    links = [a["href"] for tag, a in page.elements if tag == "a" and a.get("class") == "skip"]
    assert links == ["#main", "#launch"]
    assert page.by_id("launch")["tabindex"] == "-1"
