import pytest

from perfdash.addresses import own_addresses, redis_url, verified


def test_own_services_are_named_with_the_usual_port_where_none_is_written():
    result = own_addresses(
        "postgresql://perfdash:secret@db.example/perfdash", "redis://10.0.0.5:6380/0"
    )

    assert result == (("db.example", 5432), ("10.0.0.5", 6380))


def test_a_service_behind_a_socket_has_no_address():
    result = own_addresses(
        "postgresql://perfdash:secret@%2Frun%2Fdatabase/perfdash",
        "redis+socket:///run/valkey.sock?virtual_host=0",
        "",
    )

    assert result == ()


def test_further_services_are_added_once():
    assert own_addresses("redis://[::1]:6379/0", extra=["web:8000", "[::1]:6379"]) == (
        ("::1", 6379),
        ("web", 8000),
    )


@pytest.mark.parametrize(
    ("broker", "redis"),
    [
        ("redis://:secret@10.0.0.5:6379/1", "redis://:secret@10.0.0.5:6379/1"),
        ("redis+socket:///run/valkey.sock?virtual_host=2", "unix:///run/valkey.sock?db=2"),
        ("redis+socket:///run/valkey.sock", "unix:///run/valkey.sock?db=0"),
    ],
)
def test_the_broker_is_spelled_as_redis_spells_it(broker, redis):
    assert redis_url(broker) == redis


@pytest.mark.parametrize(
    ("written", "used"),
    [
        ("redis://:secret@db:6379/1", "redis://:secret@db:6379/1"),
        ("rediss://db:6379/0", "rediss://db:6379/0?ssl_cert_reqs=required"),
        (
            "rediss://:p%40ss@db:6379/0?ssl_ca_certs=/etc/ca.pem",
            "rediss://:p%40ss@db:6379/0?ssl_ca_certs=/etc/ca.pem&ssl_cert_reqs=required",
        ),
        ("rediss://db/0?ssl_cert_reqs=CERT_NONE", "rediss://db/0?ssl_cert_reqs=none"),
    ],
)
def test_a_certificate_of_the_broker_is_checked_unless_the_address_says_otherwise(written, used):
    assert verified(written) == used
