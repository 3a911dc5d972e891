"""YAML by plain values: aliases that stand for a part again, and those that stand for more than a file can hold."""

from __future__ import annotations

import pytest
import yaml

from connectors.yaml_values import load_yaml

BOMB = "a0: &a0 [x, x, x]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))


def test_an_alias_stands_for_a_part_again() -> None:
    assert load_yaml("a: &a {b: [1]}\nc: [*a, *a]\nd: {<<: *a, e: 2}") == {
        "a": {"b": [1]},
        "c": [{"b": [1]}, {"b": [1]}],
        "d": {"b": [1], "e": 2},
    }
    assert load_yaml("") is None
    assert load_yaml(b"x") == "x"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: &a [*a]", id="a list that holds itself"),
        pytest.param("a: &a {b: {c: *a}}", id="a mapping that holds itself further down"),
        pytest.param("- &a [1]\n- &b [*a, &c {d: [*b]}]", id="one inside another"),
        pytest.param(BOMB, id="aliases of aliases"),
        pytest.param("[" * 100_000, id="too deep"),
        pytest.param("a: 2001-99-99", id="a value that is none"),
        pytest.param("#" * (17 << 20), id="too large"),
    ],
)
def test_what_is_endless_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError):
        load_yaml(text)
