"""What feeds of the sandbox have to offer, read from their own manifest or metadata."""

import threading
from pathlib import Path
from time import perf_counter_ns

import pytest

from campaigns.kinds.base import AddressRefused, Context, DriverError, TargetUnavailable
from campaigns.kinds.base.feed import offer_of
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.programs.servers import server

ENTITIES = b"""HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<?xml version="1.0"?>
<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><repomd>&b;</repomd>"""


def context(rules="127.0.0.1:*"):
    return Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 60.0,
        progress=lambda values: None,
        say=lambda line: None,
        clock=perf_counter_ns,
        directory=Path("/nowhere"),
        rules=parse_rules(rules),
        deadline_seconds=60,
    )


def test_a_manifest_tells_files_and_sizes(sandbox):
    offer = offer_of(sandbox.manifest(files=7, size=1000), "file/file", context())

    assert offer is not None
    assert (offer.units, len(offer.files), offer.bytes) == (7, 7, 7000)


def test_metadata_of_packages_tell_packages_and_sizes(sandbox):
    offer = offer_of(f"{sandbox.base_url}/rpm/packages=5,size=4kB/", "rpm/rpm", context())

    assert offer is not None
    assert (offer.units, len(offer.files), offer.bytes) == (5, 5, 20_000)


def test_metadata_of_packages_tell_modules_comps_and_advisories(sandbox):
    offer = offer_of(f"{sandbox.base_url}/rpm/packages=5/extras=3/", "rpm/rpm", context())

    assert offer is not None
    assert {kind: count for kind, count in offer.others.items() if count} == {
        "rpm.modulemd": 3,
        "rpm.modulemd_defaults": 1,
        "rpm.packagegroup": 3,
        "rpm.packagecategory": 1,
        "rpm.packageenvironment": 1,
        "rpm.advisory": 3,
    }


COMPS = b"""<?xml version="1.0"?><comps>
<group><id>a</id></group><group><id>b</id></group><category><id>c</id></category>
<langpacks><match name="gimp" install="gimp-help-%s"/></langpacks></comps>"""
MODULES = b"""---
document: modulemd
version: 2
data: {name: a, description: "document: modulemd"}
...
---
document: "modulemd-obsoletes"
version: 1
---
document: modulemd
version: 2
data: {name: a, description: "document: modulemd"}
"""
REPOMD = b"""<repomd xmlns="http://linux.duke.edu/metadata/repo">
<data type="primary"><location href="repodata/primary.xml"/></data>
<data type="group_zck"><location href="repodata/comps.xml.zck"/></data>
<data type="group_gz"><location href="repodata/comps.xml"/></data>
<data type="modules"><location href="repodata/modules.yaml"/></data>
<data type="updateinfo"><location href="repodata/updateinfo.xml.zck"/></data></repomd>"""
PRIMARY = b"""<metadata xmlns="http://linux.duke.edu/metadata/common"/>"""


def test_metadata_of_any_name_are_counted_and_those_that_cannot_be_read_are_not():
    def answer(body):
        return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body

    documents = {"repomd.xml": REPOMD, "primary.xml": PRIMARY, "comps.xml": COMPS, "modules.yaml": MODULES}  # fmt: skip
    served = {f"repodata/{name}": answer(body) for name, body in documents.items()}
    with server(None, **served) as url:
        offer = offer_of(url.rpartition("/")[0], "rpm/rpm", context())

    assert offer is not None
    assert offer.others == {
        "rpm.modulemd": 1,
        "rpm.modulemd_defaults": 0,
        "rpm.modulemd_obsolete": 1,
        "rpm.packagegroup": 2,
        "rpm.packagecategory": 1,
        "rpm.packageenvironment": 0,
        "rpm.packagelangpacks": 1,
        "rpm.advisory": None,
    }


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (b"200 OK\r\nContent-Length: 900\r\n\r\n<metadata>", TargetUnavailable, "gave no answer"),
        (b"200 OK\r\nContent-Length: 10\r\n\r\n<metadata>", DriverError, "no XML that can be read"),
        (b"404 Not Found\r\nContent-Length: 3\r\n\r\n<a>", DriverError, "answered 404"),
        (b"503 Busy\r\nContent-Length: 0\r\n\r\n", DriverError, "answered 503"),
    ],
    ids=["cut off on its way", "half a document", "none", "busy"],
)
def test_metadata_that_do_not_come_whole_are_told(answer, error, message):
    served = {
        "repodata/repomd.xml": b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + REPOMD,
        "repodata/primary.xml": b"HTTP/1.1 " + answer,
    }
    with server(None, **served) as url, pytest.raises(error, match=message):
        offer_of(url.rpartition("/")[0], "rpm/rpm", context())


def test_of_other_content_nothing_is_known(sandbox):
    assert offer_of(sandbox.base_url, "python/python", context()) is None


@pytest.mark.parametrize(
    ("content", "path", "message"),
    [
        ("file/file", "nowhere", "answered 404; check the parameter feed"),
        ("file/file", "repo/files=2,manifest=html/PULP_MANIFEST", "cannot be read"),
        ("rpm/rpm", "repo/files=2", "answered 404; check the parameter feed"),
    ],
)
def test_a_feed_that_is_none_is_told_in_words(sandbox, content, path, message):
    with pytest.raises(DriverError, match=message):
        offer_of(f"{sandbox.base_url}/{path}", content, context())


def test_a_feed_that_is_not_allowed_is_told_with_the_reason():
    with pytest.raises(AddressRefused, match="to prove that all of it was synced"):
        offer_of("http://127.0.0.1:9/PULP_MANIFEST", "file/file", context("127.0.0.2:*"))


def test_a_feed_that_does_not_answer_is_told():
    with pytest.raises(TargetUnavailable, match="gave no answer"):
        offer_of("http://127.0.0.1:9/PULP_MANIFEST", "file/file", context())


def test_metadata_with_entities_are_refused():
    with (
        server(None, **{"repodata/repomd.xml": ENTITIES}) as url,
        pytest.raises(DriverError, match="define entities"),
    ):
        offer_of(url.rpartition("/")[0], "rpm/rpm", context())
