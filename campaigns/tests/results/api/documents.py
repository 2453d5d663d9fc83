"""What is submitted in tests, and what came of it."""

from campaigns.models import Campaign


def document(**changes):
    """Two settings of one test, three builds each."""
    runs = [
        {
            "tags": {"engine": engine},
            "values": {"duration": seconds, "memory": 100 + place},
            "started_at": f"2026-11-2{place}T10:00:00Z",
            "finished_at": f"2026-11-2{place}T10:01:00+00:00",
        }
        for engine, times in (("futures", (20.0, 21.0, 20.5)), ("asyncio", (10.0, 10.5, 11.0)))
        for place, seconds in enumerate(times)
    ]
    return {
        "campaign": {"question": "Which engine?", "tags": ["nightly"], "source": "our lab"},
        "metrics": {
            "duration": {"unit": "s", "lower_is_better": True},
            "memory": {"unit": "widgets", "lower_is_better": None, "label": "Memory used"},
        },
        "context": {"cpu": "i7-6700", "cores": 8},
        "info": {"job": 7},
        "runs": runs,
        **changes,
    }


def made(answer) -> Campaign:
    assert answer.status_code == 201, answer.content
    return Campaign.objects.get(pk=answer.json()["submission"]["campaign"]["id"])


def errors_of(answer) -> dict[str, str]:
    assert answer.status_code == 400, answer.content
    return {each["field"]: each["message"] for each in answer.json()["errors"]}
