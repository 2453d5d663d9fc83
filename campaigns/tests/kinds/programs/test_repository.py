"""What a repository names: documents, packages, files and paths; and what is refused, with what to do."""

import hashlib

import pytest

from campaigns.kinds.programs.metadata import BadMetadata
from campaigns.kinds.programs.repository import (
    Named,
    documents_of,
    files_of,
    packages_of,
    paths_of,
    without_digest,
)

A, B = hashlib.sha256(b"a").hexdigest(), hashlib.sha256(b"b").hexdigest()


def repomd(*data):
    return f'<repomd xmlns="http://linux.duke.edu/metadata/repo">{"".join(data)}</repomd>'.encode()


def data(kind, href="repodata/x.xml.gz", digest=A, size="5", more=""):
    return f"""<data type="{kind}"><checksum type="sha256">{digest}</checksum>
<location href="{href}" {more}/><size>{size}</size></data>"""


def primary(*packages):
    return [
        b'<metadata xmlns="http://linux.duke.edu/metadata/common">',
        *(each.encode() for each in packages),
        b"</metadata>",
    ]


def package(href, size="20000", digest=A, kind="sha256", more=""):
    return f"""<package type="rpm"><checksum type="{kind}" pkgid="YES">{digest}</checksum>
<size package="{size}"/><location href="{href}" {more}/></package>"""


def test_the_documents_are_those_that_dnf_fetches_in_its_order():
    body = repomd(
        data("filelists", "repodata/f.xml.gz"),
        data("primary", "repodata/p.xml.gz", B, "77"),
        data("other", "repodata/o.xml.gz"),
        data("primary_zck", "repodata/p.xml.zck"),
    )

    found = documents_of(body)

    assert list(found) == ["primary", "filelists"]
    assert found["primary"] == Named("repodata/p.xml.gz", 77, B)


def test_advisories_are_fetched_if_there_are_any():
    assert list(documents_of(repomd(data("updateinfo"), data("primary")))) == [
        "primary",
        "updateinfo",
    ]


def test_packages_come_in_the_order_of_their_names():
    found = packages_of(primary(package("b/x-1.rpm"), package("a/y-1.rpm"), package("c/a-1.rpm")))

    assert [each.path for each in found] == ["c/a-1.rpm", "b/x-1.rpm", "a/y-1.rpm"]
    assert found[0] == Named("c/a-1.rpm", 20_000, A)


def test_another_digest_than_sha256_is_not_told():
    found = packages_of(primary(package("a.rpm"), package("b.rpm", kind="sha1", digest="ab")))

    assert [each.sha256 for each in found] == [A, ""]
    assert without_digest(found) == 1


@pytest.mark.parametrize(
    ("packages", "words"),
    [
        ((), "lists no package"),
        ((package("../up.rpm"),), "outside of it"),
        ((package("a/%2e%2e/up.rpm"),), "outside of it"),
        ((package("http://other/a.rpm"),), "outside of it"),
        ((package("/a.rpm"),), "outside of it"),
        ((package("a.rpm", more='xml:base="http://other/"'),), "at another address"),
        ((package("a.rpm", size="0"),), "has 0 bytes"),
        ((package("a.rpm", size="-5"),), "as a size"),
        ((package("a.rpm", size="five"),), "as a size"),
        ((package("a.rpm"), package("a.rpm")), "twice"),
        ((package("a.rpm"), package("./a.rpm")), "twice"),
        ((package("a.rpm?x=1"),), "no plain path"),
        ((package(""),), "without its location"),
    ],
    ids=[
        "none", "up", "up in escapes", "elsewhere", "absolute", "base", "empty", "negative", "no number",
        "twice", "twice, written otherwise", "query", "no location",
    ],
)  # fmt: skip
def test_packages_that_no_run_could_fetch_are_refused(packages, words):
    with pytest.raises(BadMetadata, match=words):
        packages_of(primary(*packages))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (repomd(data("filelists")), "names no primary"),
        (repomd(data("primary", "../p.xml.gz")), "outside of it"),
        (repomd(data("primary", more='xml:base="http://other/"')), "at another address"),
        (b"<html>no</html", "no XML"),
    ],
    ids=["no primary", "up", "base", "no XML"],
)
def test_a_repomd_that_no_run_could_follow_is_refused(body, words):
    with pytest.raises(BadMetadata, match=words):
        documents_of(body)


def test_a_manifest_tells_names_sizes_and_digests():
    found = files_of(f"b.iso,{B},7\na/z.iso,{A},5\n".encode())

    assert found == [Named("b.iso", 7, B), Named("a/z.iso", 5, A)]


def test_a_manifest_with_an_empty_file_is_refused():
    with pytest.raises(BadMetadata, match="has 0 bytes"):
        files_of(f"b.iso,{B},0\n".encode())


def test_what_is_no_manifest_is_told():
    with pytest.raises(BadMetadata, match="manifest cannot be read"):
        files_of(b"<html>")


def test_a_list_of_paths_may_have_comments_and_tells_no_sizes():
    assert paths_of(b"# mine\nb.rpm\n\na/c.rpm\n") == [Named("b.rpm"), Named("a/c.rpm")]


@pytest.mark.parametrize("text", [b"", b"# none\n", b"../a\n", b"a\na\n", b"\xff\xfe"])
def test_a_list_of_paths_that_no_run_could_fetch_is_refused(text):
    with pytest.raises(BadMetadata):
        paths_of(text)
