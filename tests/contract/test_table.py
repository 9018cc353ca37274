"""The table is whole: every row has a test, every test a row."""

import ast
from pathlib import Path

from tests.contract.table import ALL, ROWS

FILES = sorted(Path(__file__).parent.glob("test_*.py"))


def rows_of_tests() -> dict[str, str]:
    """The row that each test covers, by its name."""
    found = {}
    for file in FILES:
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            for call in getattr(node, "decorator_list", []):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "covers":
                    assert isinstance(call.args[0], ast.Constant)
                    found[f"{file.name}:{node.name}"] = str(call.args[0].value)
    return found


def test_every_row_has_a_test_and_every_test_a_row() -> None:
    assert set(rows_of_tests().values()) == set(ROWS)


def test_the_rows_are_those_of_the_contract_each_once() -> None:
    assert len(ROWS) == 43
    assert len({row.kind for row in ROWS.values()}) == 43


def test_a_row_that_is_not_for_every_door_says_why() -> None:
    assert all(bool(row.why) == (row.faces != ALL) for row in ROWS.values())
