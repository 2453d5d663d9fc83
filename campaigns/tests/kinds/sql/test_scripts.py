from contextlib import suppress
from itertools import product

import pytest

from campaigns.kinds.sql import scripts
from campaigns.kinds.sql.form import SqlForm
from campaigns.kinds.sql.presets import PRESETS

REFUSED = {
    "SELECT 1;\n\\shell echo 1": r"Line 2: \\shell and \\setshell run programs",
    "SELECT 1;\n\n \\SETSHELL x date": "Line 3: ",
    "SELECT '\\shell';": "Line 1: ",
    "SELECT 1;\n\\\\\nshell id": r"Line 2: \\shell and \\setshell run programs",
    "SELECT _e'\\';\n\\\\\r\n \\\r\nshell id\nSELECT 1;\n-- ';": "Line 2: ",
    "SELECT _e'\\';\n\\i /etc/passwd\nSELECT 1;\n-- ';": "Line 2: there is no command",
    "SELECT a$b$;\n\\i /etc/passwd\n-- $b$;": "Line 2: there is no command",
    "SELECT 1;\n\\i /etc/passwd": r"Line 2: there is no command “\\i” here",
    "SELECT 1 \\! id": r"Line 1: there is no command “\\” here",
    "SELECT 1 \\set x 1": "Line 1: “\\\\set” has to begin a line",
    "SELECT 1;\nSELECT\n  2": "Line 3: the last statement does not end",
    "\\set x 1": "has no statement",
    "-- nothing": "has no statement",
    "SELECT 1;\n-- script: b, weight 0\nSELECT\x00 2;": "Line 3 holds a character that is no text",
    "SELECT * FROM dblink(\n'host=10.0.0.1 dbname=x', 'SELECT 1');": "Line 2 holds a connection string",
    "SELECT $$\n\nservice=other$$;": "Line 3 holds a connection string",
    "SELECT e'\\' ', dblink('host=other', 'SELECT 1'); --';": "Line 1 holds a connection string",
    "SELECT 1; /* postgresql://elsewhere/ */ SELECT\n'postgres://other/db';": "Line 2 holds a conn",
    "SELECT 1;\nCREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw;": "Line 2 holds a connection string",
    "SELECT 1;" * 8000: "The script has 72,000 bytes; give at most 65,536",
    "-- script: a, weight 0\nSELECT 1;": "All weights are 0",
    "-- script: a\nSELECT 1;\n-- script: a\nSELECT 2;": "There are two scripts “a”",
}


DBLINK = {
    "plain": "SELECT * FROM dblink('host=other', 'SELECT 1') AS t(a int);",
    "hexadecimal": r"SELECT dblink(E'\x68ost=other', 'SELECT 1');",
    "octal": r"SELECT dblink(e'\150ost=other', 'SELECT 1');",
    "unicode": r"SELECT dblink(E'\u0068o\U00000073t=other', 'SELECT 1');",
    "any letter": r"SELECT dblink(E'\host=other', 'SELECT 1');",
    "U&": r"SELECT dblink(U&'\0068ost=other', 'SELECT 1');",
    "U& of six": r"SELECT dblink(u&'h\+00006Fst=other', 'SELECT 1');",
    "UESCAPE": "SELECT dblink(U&'!0068ost=other' /* */ UESCAPE '!', 'SELECT 1');",
    "next line": "SELECT dblink('ho'\n'st=other', 'SELECT 1');",
    "next line and comment": "SELECT dblink('ho' -- a comment\n 'st=other', 'SELECT 1');",
    "escapes on the next line": "SELECT dblink(E'ho'\n'\\163t=other', 'SELECT 1');",
    "joined": "SELECT dblink('ho' || 'st=other', 'SELECT 1');",
    "joined with types": "SELECT dblink(('ho'::text /* */ || ('s')) || 't=other', 'SELECT 1');",
    "in a body": "DO $x$ BEGIN PERFORM dblink('ho'||'st=other', 'SELECT 1'); END $x$;",
    "in a text": r"DO 'BEGIN PERFORM dblink(E''\\150ost=other'', ''SELECT 1''); END';".replace(
        r"\\", "\\"
    ),
    "in texts of texts": "DO $x$ BEGIN EXECUTE 'SELECT dblink(''ho''||''st=other'', $$SELECT 1$$)'; END $x$;",
    "dollars": "SELECT dblink($a$host$a$ || $$=other$$, 'SELECT 1');",
    "another port": "SELECT dblink('port=5433', 'SELECT 1');",
    "address": r"SELECT dblink(E'postgres\x3a//other/db', 'SELECT 1');",
    "server": "CREATE /* a */ SERVER s FOREIGN DATA WRAPPER postgres_fdw;",
    "server in pieces": "DO $$ BEGIN EXECUTE 'CREATE SER'||'VER s FOREIGN DATA WRAPPER postgres_fdw'; END $$;",
    "how texts are read": r"SET standard_conforming_strings = off; SELECT dblink('\150ost=other', '');",
}
"""Ways to reach another server that a script spells out."""


@pytest.mark.parametrize("text", DBLINK.values(), ids=DBLINK)
def test_another_server_is_refused_however_it_is_spelled(text):
    for check in (scripts.check, scripts.check_initialise):
        with pytest.raises(scripts.BadScript, match=r"Line [12] (holds a connection|changes how)"):
            check(text)


def test_another_server_in_a_variable_is_refused():
    text = "SELECT 1;\nSELECT dblink(:where, 'SELECT 1'), 'a::host';"

    assert scripts.check(text, {"where": "'a'", "host": "x"})
    for variables in ({"where": "'host=other'"}, {"where": "'ho' || $$st=other$$"}):
        with pytest.raises(scripts.BadScript, match="Line 2 holds a connection"):
            scripts.check(text, variables)
    with pytest.raises(scripts.BadScript, match="With its variables the script has"):
        scripts.check("SELECT :a;" * 6000, {"a": "1" * 100})
    assert set(form(script="own", own_script=text, variables="where='port=1'").errors) == {
        "own_script"
    }


def test_texts_that_are_no_connection_strings_are_let_through():
    assert scripts.check(
        r"SELECT 'it''s', E'\\', U&'\\', 'ghost = 1', 'host', '= b', $$ a 'b' $c$ d $c$ $$, 'a' || b || '=c';"
        "\n"
        r"INSERT INTO t VALUES ('host', 'a = b'), ('x'::text, 'a -- b'), (E'a\nb', 'c:\dir');"
    )


def test_a_script_is_checked_once_for_all_cells(monkeypatch):
    text = "SELECT 'of this test alone';"
    seen = []
    plain = scripts.pieces

    def noted(*arguments):
        seen.append(arguments)
        return plain(*arguments)

    monkeypatch.setattr(scripts, "pieces", noted)

    for _ in range(10):
        assert scripts.check(text)

    assert len(seen) <= 5


@pytest.mark.parametrize(
    "unit", ["COPY ", "'a'||", "E'a' ", '"a"', "$a$ ", "-- a\n", "''''", "::a", "$$'a'"]
)
def test_a_script_is_looked_through_a_few_times_only(unit, monkeypatch):
    read = []
    plain = scripts.pieces

    def noted(text, *arguments):
        read.append(len(text))
        return plain(text, *arguments)

    monkeypatch.setattr(scripts, "pieces", noted)
    text = unit * (60_000 // len(unit))

    with suppress(scripts.BadScript):
        scripts.check_initialise.__wrapped__(text)

    assert sum(read) <= scripts.MOST_DEPTH * len(text)


@pytest.mark.parametrize("text", REFUSED)
def test_a_script_that_must_not_run_is_refused_by_its_line(text):
    with pytest.raises(scripts.BadScript, match=REFUSED[text]):
        scripts.check(text)


def test_what_looks_dangerous_and_is_not_is_let_through():
    text = (
        "\\set k random(1, 10)\nSELECT ';', '\\set', E'it\\'s', \"a;b\" -- no; end\n"
        "FROM t WHERE host = 'a' AND k = :k /* ; /* nested */ \\x */ \\gset p_\n"
        "\\if :k > 3\nSELECT $a$ ; ' $a$;\n\\else\nSELECT 1\n\\gset\n\\endif\n\\sleep 1 ms\n"
    )

    assert [each.weight for each in scripts.check(text)] == [1]


def test_scripts_in_one_text_have_names_and_weights():
    text = "SELECT 1;\n-- script: read, weight 90\nSELECT 2;\n-- script: write\nSELECT 3;"

    found = scripts.scripts_of(scripts.OWN, 0, text)

    assert [(each.name, each.text.strip(), each.weight) for each in found] == [
        ("own", "SELECT 1;", 1),
        ("read", "SELECT 2;", 90),
        ("write", "SELECT 3;", 1),
    ]


def test_scripts_that_are_built_in_keep_their_own_rules():
    for text in scripts.TEXTS.values():
        assert scripts.check(text)
    assert [each.weight for each in scripts.scripts_of(scripts.KV_MIXED, 90, "")] == [90, 10]
    assert [each.name for each in scripts.scripts_of(scripts.KV_MIXED, 100, "")] == ["read"]


def test_copy_to_a_program_is_warned_of_by_its_line():
    text = "SELECT 1;\nCOPY (SELECT 1)\n TO PROGRAM 'cat';\n-- COPY t TO PROGRAM 'x'\n"

    assert scripts.warnings_of(text) == [
        "Line 2: COPY … PROGRAM runs a program on the database's server."
    ]


@pytest.mark.parametrize(
    "text",
    [
        "DO $$ BEGIN EXECUTE 'COPY t TO PRO'||'GRAM ''id'''; END $$;",
        "COPY t TO /* */ PROGRAM 'id';",
        r"DO E'BEGIN COPY t FROM PR\117GRAM ''id''; END';",
    ],
)
def test_a_program_in_pieces_is_warned_of(text):
    assert scripts.warnings_of(text) == [
        "Line 1: COPY … PROGRAM runs a program on the database's server."
    ]


def test_of_many_programs_the_first_are_warned_of():
    assert len(scripts.warnings_of("COPY t TO PROGRAM 'x';\n" * 1000)) == scripts.MOST_WARNINGS


@pytest.mark.parametrize(
    ("text", "message"),
    [("scale=3", "set by pgbench or perfdash"), ("size", "no variable"), ("a=", "has no value"),
     ("1a=2", "no variable"), ("Random_Seed=1", "set by")],
)  # fmt: skip
def test_variables_that_pgbench_sets_are_refused(text, message):
    with pytest.raises(scripts.BadScript, match=message):
        scripts.variables_of(text)


def test_variables_are_read():
    assert scripts.variables_of("size=10, name=a b\nx = 1.5,") == {
        "size": "10",
        "name": "a b",
        "x": "1.5",
    }


def form(**values):
    initial = {name: field.initial for name, field in SqlForm.base_fields.items()}
    return SqlForm({name: value for name, value in (initial | values).items() if value is not None})


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"script": "own"}, "own_script"),
        ({"script": "own", "own_script": "SELECT 1"}, "own_script"),
        ({"own_script": "x" * 70_000}, "own_script"),
        ({"loop": "open"}, "rate"),
        ({"rate": 5}, "rate"),
        ({"variables": "scale=1"}, "variables"),
        ({"initialise": "SELECT\x01"}, "initialise"),
        ({"initialise": "SELECT dblink_connect('host=10.0.0.1')"}, "initialise"),
        (
            {"initialise": "create  server s FOREIGN DATA WRAPPER f OPTIONS (host 'x')"},
            "initialise",
        ),
        ({"clients": 0}, "clients"),
    ],
)
def test_the_form_names_the_parameter_that_is_wrong(values, field):
    assert set(form(**values).errors) == {field}


def test_an_open_loop_with_its_rate_is_valid():
    assert form(loop="open", rate="12.5", late_after_ms="100").is_valid()


@pytest.mark.parametrize("preset", PRESETS, ids=lambda each: each.name)
def test_every_cell_of_a_preset_is_valid(preset):
    for levels in product(*preset.factors.values()):
        values = {**preset.parameters, **dict(zip(preset.factors, levels, strict=True))}
        known = {name: value for name, value in values.items() if name != "maxconn"}
        assert form(**known).is_valid()
