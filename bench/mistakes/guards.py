"""Mutants of the code that keeps people, programs, files and servers within their limits: one guard less, one limit wider.

Made from the code as it stands, so that what is added later is tried, too.
"""

import ast
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

from bench.mistakes.faults import Fault

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS = "campaigns/tests"
GUARDS: dict[str, dict[str, tuple[str, ...]]] = {
    "rights": {
        "campaigns/kit/rights.py": ("kit/test_rights.py", "kit", "planning/api", "reviews/pages"),
        "campaigns/targets/rights.py": (
            "execution/test_rights.py",
            "planning/test_executed.py",
            "targets",
        ),
    },
    "limits": {
        "campaigns/planning/limits.py": ("planning/test_limits.py", "execution/test_limits.py"),
        "campaigns/targets/allowed.py": (
            "targets/test_same_server.py",
            "planning/test_limits.py",
            "targets",
        ),
        "campaigns/targets/overload.py": (
            "targets/test_production.py",
            "execution/test_carried.py",
        ),
        "campaigns/targets/quiet_hours.py": ("targets/test_quiet_hours.py", "targets"),
        "campaigns/targets/quiet.py": ("execution/test_budgets_and_quiet_hours.py", "targets"),
    },
    "programs": {
        "campaigns/execution/program_rights.py": ("execution/api/test_programs.py",),
        "campaigns/kinds/program/definition.py": ("kinds/test_program.py",),
    },
    "imports": {
        "campaigns/kinds/http/importing/reading.py": ("kinds/http",),
        "campaigns/results/importing/waiting.py": (
            "results/importing/test_waiting.py",
            "results/importing",
        ),
    },
    "redaction": {"campaigns/kit/redaction.py": ("kit/test_redaction.py", "kit")},
    "network": {"campaigns/kit/network.py": ("kit/test_network.py", "kit")},
    "watches": {
        "campaigns/targets/watches/groups.py": ("targets/watches",),
        "campaigns/targets/watches/over_ssh.py": ("targets/watches",),
        "campaigns/targets/watches/web.py": ("targets/watches",),
    },
}
"""Files by area, each with its tests, tried one after another."""
ASKS = ("require", "refuse", "check", "confirm")
"""What the names of functions begin with that raise where something is not allowed."""
WIDER = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


class Change(NamedTuple):
    """A change of one node of a function. line: in the file."""

    line: int
    what: str
    make: Callable[[ast.AST], ast.AST]


def mutants(area: str) -> Iterator[Fault]:
    """Yield the mutants of an area, in the order of its files."""
    for file, tests in GUARDS[area].items():
        text = (ROOT / file).read_text(encoding="utf-8")
        paths = tuple(f"{TESTS}/{each}" for each in tests)
        for function in _functions(ast.parse(text)):
            before = ast.get_source_segment(text, function) or ""
            for position, node in enumerate(ast.walk(function)):
                for change in _changes(node):
                    changed = _changed(function, position, change)
                    breaks = f"{Path(file).stem}.{function.name}, line {change.line}: {change.what}"
                    yield Fault(area, file, before, changed, breaks, paths)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in tree.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        yield from (each for each in inner if isinstance(each, ast.FunctionDef))


def _changes(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.If(body=[ast.Raise() | ast.Return(), *_]):
            yield Change(node.lineno, f"without “{_short(node.test)}”", _never)
        case ast.Expr(value=ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name))):
            if name.lstrip("_").startswith(ASKS):
                yield Change(node.lineno, f"without {_short(node)}", lambda _: ast.Pass())
        case ast.Compare(ops=[operator]) if type(operator) in WIDER:
            yield Change(node.lineno, f"“{_short(node)}” one off", _wider)
        case ast.BoolOp(values=values):
            for number, value in enumerate(values):
                yield Change(value.lineno, f"without “{_short(value)}”", _without(number))


def _never(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.If)
    node.test = ast.Constant(False)
    return node


def _wider(node: ast.AST) -> ast.AST:
    assert isinstance(node, ast.Compare)
    node.ops = [WIDER[type(node.ops[0])]()]
    return node


def _without(number: int) -> Callable[[ast.AST], ast.AST]:
    def make(node: ast.AST) -> ast.AST:
        assert isinstance(node, ast.BoolOp)
        del node.values[number]
        return node if len(node.values) > 1 else node.values[0]

    return make


def _changed(function: ast.FunctionDef, position: int, change: Change) -> str:
    """Return the source of a function with one node changed, as it is indented in its file."""
    copy = deepcopy(function)
    copy.decorator_list = []
    wanted = list(ast.walk(deepcopy(function)))[position]
    key = (type(wanted), getattr(wanted, "lineno", 0), getattr(wanted, "col_offset", 0))

    class Replace(ast.NodeTransformer):
        done = False

        def visit(self, node: ast.AST) -> ast.AST:
            same = (type(node), getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) == key
            if same and not self.done:
                self.done = True
                return ast.copy_location(change.make(node), node)
            return self.generic_visit(node)

    changed = ast.unparse(ast.fix_missing_locations(Replace().visit(copy)))
    return indent(changed, " " * function.col_offset).lstrip()


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:59]}…"
