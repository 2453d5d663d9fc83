import pytest

from campaigns.findings import compute
from campaigns.models import Finding
from campaigns.results.importing.demonstration import published_campaign

pytestmark = pytest.mark.django_db

FLIP = {
    "of": "levels",
    "levels": {"engine": "<b>curl</b>"},
    "baseline": 5,
    "candidate": 10,
    "primary": False,
    "before": "better",
    "after": "not_enough_data",
    "too_few": False,
}


@pytest.fixture
def published(person):
    campaign, _ = published_campaign(person)
    compute.analyse(campaign)
    return campaign


def panel(browser, campaign):
    response = browser.get(f"/campaigns/{campaign.pk}/print/")
    return response.content.decode().split('id="h-sensitivity"')[1].split("</section>")[0]


def test_three_runs_a_level_leave_no_reserve(browser, published):
    text = panel(browser, published)

    assert "A verdict changes without run 11: 10 vs. 7: not enough data instead of faster" in text
    assert "18 of 18 runs would change something" in text
    assert "5 vs. 3: not enough data instead of faster, too few left" in text


def test_each_run_that_a_verdict_hangs_on_is_named_and_markup_is_text(browser, published):
    stored = Finding.objects.get(campaign=published, name="sensitivity")
    look = {"tried": 18, "of": 18, "flipping": 30, "flips": [{"without": 7, "changes": [FLIP]}]}
    blocks = {"tried": 0, "of": 900, "flips": [], "flipping": 0}
    sides = {"decided": 5, "runs": look, "blocks": blocks}
    stored.result = {
        "unit": "block",
        "status": "flips",
        "as_judged": sides,
        "with_excluded": {"decided": 5, "runs": {**look, "flips": [], "flipping": 0}},
    }
    stored.save()

    text = panel(browser, published)

    assert "A verdict changes without run 7: 10 vs. 5, at engine &lt;b&gt;curl" in text
    assert "Without run 7: 10 vs. 5, at engine &lt;b&gt;curl&lt;/b&gt;" in text
    assert "not enough data instead of faster" in text
    assert "And 29 more." in text
    assert "900 blocks: too many to test" in text
    assert "Without any one run, exclusions undone" in text


def test_rest_gives_it_as_a_finding(browser, published):
    found = browser.get(f"/api/v1/campaigns/{published.pk}/findings/sensitivity")

    assert found.json()["result"]["status"] == "flips"
