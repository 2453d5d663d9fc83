"""A feed that systems can be installed from: beside its packages it has images, which no list names."""

import hashlib
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from campaigns.tests.kinds.sync.suite import found, good, parameters
from e2e.pulp.sync.test_suite import pulp
from sandbox.rpm.repodata import Repodata
from sandbox.tests.rpm.conftest import packages, whole

__all__ = ["pulp"]

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.slow, pytest.mark.timeout(300)]

PACKAGES, IMAGE = 3, b"an image" * 1000
TREE = f"""\
[header]
type = productmd.treeinfo
version = 1.2
[release]
name = Sandbox
short = sandbox
version = 1
[tree]
arch = x86_64
build_timestamp = 1735689600
platforms = x86_64
variants = Main
[variant-Main]
id = Main
name = Main
packages = Packages
repository = .
type = variant
uid = Main
[checksums]
images/boot.img = sha256:{hashlib.sha256(IMAGE).hexdigest()}
[images-x86_64]
boot.img = images/boot.img
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def tree(tmp_path):
    """The URL of such a feed."""
    several = packages(PACKAGES, 3000)
    repodata = Repodata(several)
    files = {several.name(index): whole(repodata.body(index)) for index in range(PACKAGES)}
    files |= {".treeinfo": TREE.encode(), "images/boot.img": IMAGE, **repodata.documents}
    for path, data in files.items():
        (tmp_path / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / path).write_bytes(data)
    handler = partial(Quiet, directory=tmp_path / "tree")
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("changes", "artifacts", "downloaded"),
    [
        ({}, PACKAGES + 2, PACKAGES + 2),  # the image, and what describes the tree
        ({"sync_policy": "mirror_complete"}, PACKAGES + 7, PACKAGES + 2),
        ({"policy": "on_demand"}, 1, 1),
        ({"repeat": "unchanged", "optimize": "off"}, PACKAGES + 2, 1),
    ],
    ids=["immediate", "mirror", "on demand", "once more"],
)
def test_images_of_a_tree_are_no_reason_to_doubt_a_sync(pulp, tree, changes, artifacts, downloaded):
    measured, proofs = pulp.run(parameters(tree, content="rpm", **changes))

    assert not measured.failure
    assert good(proofs), proofs
    measures = found(proofs)
    assert measures["units of content"] == PACKAGES
    assert (measures["artifacts"], measures["files downloaded by these syncs"]) == (
        artifacts,
        downloaded,
    )
