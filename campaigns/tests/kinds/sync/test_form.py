"""The parameters of a sync, and what is refused of them."""

import pytest
from django.core.exceptions import ValidationError

from campaigns.kinds.sync.form import SyncForm

FEED = "http://127.0.0.1:8099/repo/files=3/PULP_MANIFEST"


def form(**changes):
    initial = {
        name: field.initial
        for name, field in SyncForm.base_fields.items()
        if field.initial is not None
    }
    return SyncForm(initial | {"feed": FEED} | changes)


def test_what_is_left_empty_is_pulps_own():
    checked = form()

    assert checked.is_valid(), checked.errors
    assert checked.cleaned_data["download_concurrency"] is None
    assert checked.cleaned_data["content"] == "file/file"


@pytest.mark.parametrize(
    ("written", "read"),
    [("file", "file/file"), ("rpm", "rpm/rpm"), ("python/python", "python/python")],
)
def test_a_plug_in_is_called_as_the_api_has_it(written, read):
    checked = form(content=written)

    assert checked.is_valid()
    assert checked.cleaned_data["content"] == read


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("feed", "ftp://feed/", "http"),
        ("feed", "http://user:word@feed/", "user name"),
        ("content", "../status", "Give file, rpm"),
        ("content", "file/file/sync", "Give file, rpm"),
        ("policy", "sometimes", "not one of the available"),
        ("download_concurrency", 0, "greater than or equal to 1"),
        ("max_retries", 0, "greater than or equal to 1"),
        ("rate_limit", 0, "greater than or equal to 1"),
        ("repositories", 0, "greater than or equal to 1"),
        ("repositories", 101, "less than or equal to 100"),
        ("remote_fields", "[1]", "JSON object"),
        ("remote_fields", "{", "no JSON"),
        ("remote_fields", '{"a": NaN}', "no JSON: there is no NaN in it"),
        ("remote_fields", '{"a":' * 20_000 + "1" + "}" * 20_000, "nested deeper than 20 levels"),
        ("remote_fields", '{"a":' * 500 + "1" + "}" * 500, "nested deeper than 20 levels"),
        ("remote_fields", '{"a":' * 21 + "1" + "}" * 21, "nested deeper than 20 levels"),
        ("sync_fields", '{"optimize": false}', "parameter of its own: optimize"),
        ("remote_fields", '{"name": "mine"}', "perfdash gives itself: name"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(name, value, message):
    checked = form(**{name: value})

    assert not checked.is_valid()
    assert message in " ".join(checked.errors[name])


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ('{"username": "me", "password": "x"}', "password"),
        ('{"proxy_password": "x"}', "proxy_password"),
        ('{"client_key": "x"}', "client_key"),
        ('{"sles_auth_token": "x"}', "sles_auth_token"),
        ('{"headers": [{"Authorization": "Bearer x"}]}', "Authorization"),
        ('{"proxy_url": "http://me:x@proxy:3128"}', "proxy_url"),
    ],
)
def test_what_everybody_would_read_is_refused(fields, name):
    checked = form(remote_fields=fields)

    assert not checked.is_valid()
    message = checked.errors["remote_fields"][0]
    assert message.startswith(
        f"Not here: {name}. A campaign keeps no secrets, as everybody reads it: an operator makes"
    )


def test_a_login_in_the_url_of_a_feed_leads_to_a_credential():
    checked = form(feed="https://me:secret@cdn.example/PULP_MANIFEST")

    assert checked.errors["feed"] == [
        "The URL holds a user name or password. A campaign keeps no secrets, as everybody reads it: an operator makes a "
        "credential of the team, and the parameter credential names it."
    ]


@pytest.mark.parametrize(
    "field", ["ca_cert", "client_cert", "headers", "proxy_url", "tls_validation"]
)
def test_nothing_beside_a_credential_may_lead_it_elsewhere(field):
    fields = {"headers": '[{"Accept": "x"}]'}.get(field, '"x"')

    checked = form(credential="cdn", remote_fields=f'{{"{field}": {fields}}}')

    assert f"goes to the feed alone: {field}." in checked.errors["remote_fields"][0]
    assert form(remote_fields=f'{{"{field}": {fields}}}').is_valid()


def test_further_fields_without_a_secret_are_taken():
    checked = form(remote_fields='{"headers": [{"Accept": "text/plain"}], "ca_cert": "x@y"}')

    assert checked.is_valid(), checked.errors


def test_the_number_of_a_repository_stands_in_its_feed():
    checked = form(feed="http://127.0.0.1:8099/repo/files=3,seed={n}/PULP_MANIFEST")

    assert checked.is_valid(), checked.errors


@pytest.mark.parametrize(("written", "read"), [("3", "3"), (" 5 3,5", "5, 3"), (7, "7"), ("", "")])
def test_ids_of_repositories_are_written_in_one_way(written, read):
    assert SyncForm.base_fields["repository_ids"].clean(written) == read


@pytest.mark.parametrize("written", ["three", "0", "-1", "1.5", "٣", "1234567890", "1, 2, x"])
def test_what_is_no_id_is_refused(written):
    with pytest.raises(ValidationError):
        SyncForm.base_fields["repository_ids"].clean(written)


def test_a_level_of_the_content_is_called_as_the_api_has_it():
    assert SyncForm.base_fields["content"].clean("rpm") == "rpm/rpm"


def test_further_fields_may_be_an_object_and_ids_a_list():
    checked = form(remote_fields={"tls_validation": False, "headers": [{"Accept": "a/b"}]})

    assert checked.errors == {}
    assert checked.cleaned_data["remote_fields"] == (
        '{"tls_validation": false, "headers": [{"Accept": "a/b"}]}'
    )
    assert SyncForm.base_fields["remote_fields"].clean({}) == ""
    assert "perfdash gives itself: name" in str(form(remote_fields={"name": "a"}).errors)


@pytest.mark.parametrize(
    ("ids", "stored"), [([3, 5], "3, 5"), (["3", 5, 3], "3, 5"), ([], ""), ("5;3", "5, 3")]
)
def test_ids_may_be_a_list(ids, stored):
    assert SyncForm.base_fields["repository_ids"].clean(ids) == stored


@pytest.mark.parametrize("ids", [[True], [{}], [[3]], [1.5], ["3,5"], {"a": 3}])
def test_a_list_of_something_else_is_refused(ids):
    with pytest.raises(ValidationError):
        SyncForm.base_fields["repository_ids"].clean(ids)
