from pathlib import Path

import pytest

from sandbox.content import Content, Names
from sandbox.faults import Fault
from sandbox.grammar import BadPath, entry_path, manifest_path, pairs, read, split
from sandbox.manifest import Kind
from sandbox.rpm.package import OVERHEAD, Packages
from sandbox.rpm.repodata import Part
from sandbox.settings import SETTINGS, Feed, Preset
from sandbox.welcome import welcome


def understood(path: str) -> tuple[object, str]:
    settings, name = split(path.split("/"))
    return read(pairs(settings)), "/".join(name)


def test_settings_may_stand_in_any_number_of_segments_and_any_order() -> None:
    one = understood("files=7,latency=20/seed=2/file-000001.bin")

    other = understood("seed=2,latency=20,files=7/file-000001.bin")

    assert one == other


def test_the_name_begins_at_the_first_segment_without_an_equals_sign() -> None:
    settings, name = split(["files=7", "part-000", "file-000001.bin"])

    assert settings == ["files=7"]
    assert name == ["part-000", "file-000001.bin"]


def test_values_get_their_types_and_units() -> None:
    settings = read(
        pairs(
            [
                "files=3,size=1kB-2KiB,seed=9,names=commas",
                "latency=20,jitter=0.5,bandwidth=1.5MB",
                "stalls=0.4,stall=250,manifest=absurd,connections=4,label=a.b-c_1",
            ]
        )
    )

    assert settings.content == Content(3, 1000, 2048, None, 9, Names.COMMAS)
    assert (settings.latency, settings.jitter, settings.bandwidth) == (0.02, 0.0005, 1_500_000)
    assert settings.shares == {Fault.STALL: 0.4}
    assert (settings.stall, settings.manifest) == (0.25, Kind.ABSURD)
    assert (settings.connections, settings.label) == (4, "a.b-c_1")


def test_total_stands_instead_of_size() -> None:
    settings = read([("files", "100"), ("total", "407.679MB")])

    assert settings.content == Content(files=100, total=407_679_000)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("file=3", "'file'"),
        ("files=-1", "0 to 1000000"),
        ("files=1000001", "0 to 1000000"),
        ("files=", "0 to 1000000"),
        ("files=\u0663", "0 to 1000000"),
        ("files=3,files=4", "twice"),
        ("files=3,latency", "key=value"),
        ("files=3,,seed=1", "key=value"),
        ("size=20-10", "1000-50000"),
        ("size=11GB", "10GB"),
        ("size=1TB", "KiB"),
        ("size=1,total=2", "exclude"),
        ("files=1,total=11GB", "10GB"),
        ("names=long", "plain, commas or nested"),
        ("latency=soon", "milliseconds"),
        ("latency=nan", "milliseconds"),
        ("latency=99999999999", "milliseconds"),
        ("bandwidth=0", "above 0"),
        ("errors=1.5", "0 to 1"),
        ("errors=0.6,missing=0.6", "missing, errors: more"),
        ("files=1,errors=0.1,missing=0.1", "a file has one at most"),
        ("stall=never", "forever"),
        ("redirects=0.1", "to=host:port"),
        ("manifest=redirect", "to=host:port"),
        ("to=a b", "host:port"),
        ("to=a\r\nX: y", "host:port"),
        ("connections=0", "1 to 1000000"),
        ("manifest=torn", "duplicates"),
        ("files=0,manifest=negative", "files=0"),
        ("label=a b", "dashes"),
        ("label=x\n", "dashes"),
        ("label=" + "x" * 65, "64"),
        ("preset=huge", "many-small, few-large"),
        ("packages=3", "'packages' in /repo: expected one of files"),
        ("part=primary", "'part' in /repo"),
    ],
)
def test_a_bad_setting_is_named_with_what_is_allowed(path: str, named: str) -> None:
    with pytest.raises(BadPath, match=named):
        understood(path + "/PULP_MANIFEST")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("files=3", "'files' in /rpm: expected one of packages"),
        ("names=commas", "'names' in /rpm"),
        ("packages=100001", "0 to 100000"),
        (f"size={OVERHEAD - 1}", f"{OVERHEAD} bytes to 2GB each"),
        ("packages=1,size=3kB-2.1GB", "size=3000-2100000000: .* 2GB each"),
        ("packages=11,size=2GB", "20GB in all"),
        (f"packages=3,total={3 * OVERHEAD - 1}", f"{OVERHEAD} bytes to 2GB each"),
        ("packages=1,total=3GB", "2GB each"),
        ("packages=100,total=21GB", "20GB in all"),
        ("packages=0,manifest=negative", "needs one"),
        ("part=other", "no whole file is wrong"),
        ("part=other,manifest=negative", "no whole file is wrong"),
        ("part=updateinfo,manifest=empty", "repomd, primary, filelists, other"),
        ("manifest=redirect,part=primary", "to=host:port"),
    ],
)
def test_a_bad_setting_of_packages_is_named_with_what_is_allowed(path: str, named: str) -> None:
    with pytest.raises(BadPath, match=named):
        read(pairs([path]), Feed.RPM)


def test_sizes_of_packages_include_all_that_is_in_them() -> None:
    even = read(pairs(["packages=3,size=5kB,seed=4"]), Feed.RPM).content
    varied = read(pairs(["packages=500,size=3kB-4kB"]), Feed.RPM).content
    shared = read(pairs(["packages=7,total=1000001"]), Feed.RPM).content

    assert even == Packages(Content(3, 5000 - OVERHEAD, 5000 - OVERHEAD, seed=4))
    sizes = [varied.size(index) for index in range(500)]
    assert 3000 <= min(sizes) < 3100
    assert 3900 < max(sizes) <= 4000
    assert sum(shared.size(index) for index in range(7)) == 1_000_001


def test_a_preset_stands_for_number_and_size_in_both_kinds_of_repositories() -> None:
    for preset in Preset:
        files = read([("preset", preset)]).content
        packages = read([("preset", preset)], Feed.RPM).content

        assert files.files == packages.files
        assert files.size(0) == packages.size(0) == files.size(files.files - 1)
        assert files.files * files.size(0) == 200_000_000


def test_what_stands_beside_a_preset_goes_before_it() -> None:
    more = read(pairs(["preset=few-large,files=20"])).content
    smaller = read(pairs(["size=1kB-2kB,preset=few-large"])).content
    total = read(pairs(["preset=few-large,total=50"])).content

    assert (more.files, more.size(0)) == (20, 20_000_000)
    assert smaller == Content(10, 1000, 2000)
    assert total == Content(10, total=50)


def test_the_path_of_an_rpm_repository_has_no_comma() -> None:
    assert entry_path(Feed.RPM, packages=3, latency=20) == (
        "/rpm/packages=3/latency=20/repodata/repomd.xml"
    )


def test_long_rubbish_is_not_repeated_in_full() -> None:
    with pytest.raises(BadPath) as raised:
        understood("files=" + "9" * 5000 + "/PULP_MANIFEST")

    assert len(str(raised.value)) < 200


def test_a_manifest_path_is_written_from_keywords_and_checked() -> None:
    assert manifest_path(files=3, size="4MB") == "/repo/files=3,size=4MB/PULP_MANIFEST"
    assert manifest_path() == "/repo/PULP_MANIFEST"
    with pytest.raises(BadPath):
        manifest_path(sizes=3)


def test_page_and_documentation_tell_each_setting_and_each_manifest() -> None:
    documentation = (Path(__file__).parents[2] / "docs" / "reference" / "sandbox.md").read_text()
    page = welcome("http://127.0.0.1:8099")

    for setting in SETTINGS:
        assert f"`{setting.key}=" in documentation
        assert f"  {setting.key}=" in page
    for kind in Kind:
        assert f"`{kind}`" in documentation
        assert kind in page
    for preset in Preset:
        assert f"| `{preset}` |" in documentation
        assert f"/rpm/preset={preset}/" in page
        assert f"/repo/preset={preset}/" in page
    for part in Part:
        assert f"`part={part}`" in documentation
    assert f"{OVERHEAD} at least" in documentation
