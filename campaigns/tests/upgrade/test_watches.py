"""A watch by SSH that was a source of its own is one of today, and what it saw stays."""

from django.core.management import call_command

from campaigns.models import Attempt, Target, Watch, Watched
from campaigns.targets.watches.registry import source_of

BEFORE = "0037_configurations"


def rows() -> list[tuple[object, ...]]:
    return list(Watch.objects.order_by("pk").values_list("source", "address", "options"))


def test_watches_of_then_go_on_by_ssh_and_have_their_names_again_after_the_way_back(upgraded):
    call_command("migrate", "campaigns", BEFORE, verbosity=0)
    target = Target.objects.order_by("pk").values_list("pk", flat=True)[0]
    then = [
        ("haproxy_ssh", "proxy.example", {"socket": "/run/h.sock"}),
        ("puma_ssh", "[fd00::1]:2222", {"state_file": "/run/puma.state"}),
        ("haproxy", "tcp://proxy.example:9999", {}),
        ("puma", "http://web.example:9293/stats", {}),
        ("ssh", "proxy.example", {}),
    ]
    for source, address, options in then:
        Watch.objects.create(target_id=target, source=source, address=address, options=options)
    attempt = Attempt.objects.order_by("pk").values_list("pk", flat=True)[0]
    Watched.objects.create(
        attempt_id=attempt,
        source="haproxy_ssh",
        address="proxy.example",
        state="whole",
        step_seconds=1,
    )

    call_command("migrate", verbosity=0, interactive=False)

    assert rows() == [
        ("haproxy", "ssh://proxy.example", {"socket": "/run/h.sock"}),
        ("puma", "ssh://[fd00::1]:2222", {"state_file": "/run/puma.state"}),
        *then[2:],
    ]
    for watch in Watch.objects.all():
        found = source_of(watch.source)
        assert found.check_address(watch.address) == watch.address
        assert found.is_by_ssh(watch.address) == (
            "://" not in watch.address or "ssh" in watch.address
        )
    assert [each.source for each in Watched.objects.all()] == ["haproxy_ssh"]

    call_command("migrate", "campaigns", BEFORE, verbosity=0)

    assert rows() == then
