import pytest

from perfdash_client.documents import check_json, read_yaml
from perfdash_client.errors import BadUse


@pytest.fixture
def complaint(written):
    def complaint(text):
        with pytest.raises(BadUse) as caught:
            read_yaml(written(text, "d.yaml"))
        return str(caught.value).partition("d.yaml")[2]

    return complaint


def test_words_times_and_days_stay_text(written):
    text = "a: [off, no, yes, 10:30, 2026-01-01, 1e3, 0o17, 1_000, ~, true, 3.50, '7', 010]\n"

    result = read_yaml(written(text)).data["a"]

    assert result == (
        ["off", "no", "yes", "10:30", "2026-01-01", 1000.0, 15, 1000, None, True, 3.5, "7", 10]
    )
    assert {type(value) for value in result} == {str, float, int, type(None), bool}


def test_each_field_knows_its_line(written):
    document = read_yaml(written("question: x\nfactors:\n  engine:\n    - a\n    - b\n"))

    assert document.lines == {
        "question": 1,
        "factors": 2,
        "factors.engine": 3,
        "factors.engine.0": 4,
        "factors.engine.1": 5,
    }


def test_json_is_yaml_too(written):
    assert read_yaml(written('\ufeff{"a": {"b": [1, 2.5]}}\n')).data == {"a": {"b": [1, 2.5]}}


def test_anchors_and_merges_are_written_out(written):
    text = "base: &base {a: 1, b: 2}\nother:\n  <<: *base\n  b: 3\n"

    assert read_yaml(written(text)).data["other"] == {"a": 1, "b": 3}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", ":3: column 2: "),
        ("a: 1\nb: 2\na: 3\n", ':3: column 1: found duplicate key "a"'),
        ("a:\n\tb: 1\n", ":2: column 1: found character '\\t'"),
        ("a: 1\nb: .nan\n", ":2: b: infinity and .nan"),
        ("a: 1\n5: x\n", "the name 5 is no text"),
        ("a: 1\n---\nb: 2\n", "holds 2 documents"),
        ("a: !!python/object:os.system x\n", ":1: a: "),
        ("a: !!binary aGk=\n", ":1: a: "),
        ("a: \x07\n", "special characters are not allowed"),
        ("a: *nobody\n", ":1: column 4: found undefined alias"),
        ("a: 1\nb: " + "[" * 100_000, ":2: this is nested deeper than 16 levels"),
    ],
    ids=lambda text: str(text)[:20],
)
def test_what_is_wrong_is_told_with_its_line(complaint, text, told):
    assert told in complaint(text)


@pytest.mark.parametrize(
    "value",
    ["*hunter2", "!hunter2", "!!hunter2", "!<hunter2> x", "!!int hunter2", "!!bool hunter2"],
)
def test_a_value_that_cannot_be_read_is_not_repeated(complaint, value):
    text = complaint(f"passwordx: {value}\n")

    assert text
    assert "hunter2" not in text


def test_a_billion_laughs_stay_a_sentence(complaint):
    lines = ["a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    assert "more than 100,000 values" in complaint("\n".join(lines))


def test_a_file_that_is_none_is_told(tmp_path, written):
    cases = {
        tmp_path: "is a directory",
        tmp_path / "nowhere": "There is no file",
        written(b"a: \xff\n", "latin"): "latin:1: byte 4 is no UTF-8",
        written("a: 1".encode("utf-16"), "wide"): "is no UTF-8",
        written(" \n", "blank"): "is empty",
        written("a: 1\n" + "#" * 1_000_001, "large"): "larger than 1,000,000 bytes",
    }

    for path, answer in cases.items():
        with pytest.raises(BadUse) as caught:
            read_yaml(path)
        assert answer in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,\n "b": }', "f.json:2: column 7: Expecting value"),
        ('{"a": 1, "a": 2}', "“a” stands twice"),
        ('{"a": NaN}', "NaN is no number"),
        ("[" * 100_000, "nested too deeply"),
    ],
    ids=lambda text: text[:12],
)
def test_json_is_read_as_strictly(text, told):
    with pytest.raises(BadUse) as caught:
        check_json(text, "f.json")

    assert told in str(caught.value)
