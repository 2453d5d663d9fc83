from perfdash.local.pulp.readiness import missing, online


def status(*, database=True, workers=("worker1-10",), content=("content-21",)):
    return {
        "database_connection": {"connected": database},
        "online_workers": [{"name": name} for name in workers],
        "online_content_apps": [{"name": name} for name in content],
    }


RUNNING = {"api-1", "worker1-10", "content-20", "content-21"}
WANTED = {"worker1", "content"}


def test_nothing_is_missing_where_everybody_is_online():
    assert missing(status(), RUNNING, WANTED) == ""


def test_a_killed_process_that_pulp_still_lists_does_not_count():
    assert missing(status(workers=["worker1-9"]), RUNNING, WANTED) == "worker1 not online"


def test_a_content_app_that_is_not_there_yet_is_missing():
    assert missing(status(content=[]), RUNNING, WANTED) == "content not online"


def test_without_database_or_api_nothing_else_matters():
    assert missing(status(database=False), RUNNING, WANTED) == "the API has no database"
    assert missing(None, RUNNING, WANTED) == "the API does not answer"


def test_what_does_not_answer_as_pulp_does_is_not_online():
    assert online("http://127.0.0.1:9") is None
