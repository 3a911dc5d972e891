"""YAML with line marks, and its errors in our own words."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflows.config.yaml.document import InvalidConfig, dotted_path, parse_document


def problem_of(text: str) -> str:
    with pytest.raises(InvalidConfig) as caught:
        parse_document(text, "f.yaml")
    return str(caught.value)


def test_every_key_and_item_has_its_line() -> None:
    document = parse_document("a:\n  b: 1\n  c:\n    - x\n    - {d: 2}\n", "f.yaml")

    assert document.content == {"a": {"b": 1, "c": ["x", {"d": 2}]}}
    assert document.line_of(("a", "b")) == 2
    assert document.line_of(("a", "c", 1, "d")) == 5
    assert document.line_of(("a", "c", 0, "beyond")) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml: the file is empty"),
        ("# nothing\n", "f.yaml: the file is empty"),
        ("- a\n- b\n", "f.yaml:1: a mapping"),
        ("jwtToken:abc\n", "f.yaml:1: a mapping"),
        ("a: 1\na: 2\n", "f.yaml:2: a: given twice"),
        ("x:\n  a: 1\n  a: 2\n", "f.yaml:3: x.a: given twice"),
        ("a:\n\tb: 1\n", "f.yaml:2: not valid YAML: a tab"),
        ("a: {b: 1\n", "not valid YAML"),
        ("a: 'x\n", "not valid YAML: a quote that is never closed"),
        ("a: b: c\n", "f.yaml:1: not valid YAML: a second"),
        ("a: 1\n---\nb: 2\n", "more than one document"),
        ("a: &x [*x]\n", "f.yaml:1: an anchor that holds itself"),
        ("? [a, b]\n: 1\n", "f.yaml:1: a key that is no plain name"),
        ("a: \x00\n", "f.yaml:1: a control character"),
        ("a: 1\nb: !!python/object:os.system x\n", "f.yaml:2: not valid YAML: a value that starts with ! is a tag"),
    ],
)
def test_what_is_no_usable_yaml_is_one_line_with_its_place(text: str, message: str) -> None:
    assert message in problem_of(text)
    assert "\n" not in problem_of(text)


@pytest.mark.parametrize("start", ["*", "!", "&", "@", "%", "`", "|", ">"])
def test_an_unquoted_secret_that_starts_like_yaml_is_not_echoed(start: str) -> None:
    text = f"password: {start}Hunter2hunter\nnext: [\n"

    assert "unter2" not in problem_of(text)


def test_aliases_and_merge_keys_unfold_and_own_keys_win() -> None:
    document = parse_document("base: &b {x: 1, y: 2}\nuse:\n  <<: *b\n  y: 3\nalso: *b\n", "f.yaml")

    assert document.content["use"] == {"x": 1, "y": 3}
    assert document.content["also"] == {"x": 1, "y": 2}
    assert document.line_of(("use", "y")) == 4


def test_aliases_that_multiply_without_end_are_refused() -> None:
    levels = "".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]\n" for n in range(1, 9))

    assert "without end" in problem_of("l0: &l0 [x]\n" + levels)


def test_keys_stay_words_and_dates_stay_text() -> None:
    document = parse_document("on: 1\nno: 2\n1: 3\nday: 2026-11-20\n", "f.yaml")

    assert document.content == {"on": 1, "no": 2, "1": 3, "day": "2026-11-20"}


def test_bare_words_that_yaml_reads_as_something_else_are_known() -> None:
    document = parse_document("a: no\nb: 'no'\nc: 007\nd: text\n", "f.yaml")

    assert document.looks_like_text == {("a",), ("c",)}


def test_deep_nesting_is_refused_by_name() -> None:
    assert "nested too deeply" in problem_of("a: " + "[" * 5000)


MANY = "source:\n" + "".join(f"  k{number}: 1\n" for number in range(90_000))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: " + "[" * 100_000, "f.yaml:1: nested too deeply"),
        ("a: 1\nb: " + "{a: " * 100_000, "f.yaml:2: nested too deeply"),
        ("- " * 100_000, "f.yaml:1: nested too deeply"),
        ("".join(" " * depth + "a:\n" for depth in range(500)), "f.yaml:101: nested too deeply"),
        ("a: 1\n" * 300_000, "f.yaml:100000: more than 100,000 values"),
        ("b: &b {x: 1}\nc:\n  <<: [" + ",".join(["*b"] * 60_000) + "]\n", "f.yaml:1: aliases that unfold without end"),
        ("a:\n  port: " + "9" * 100_000, "f.yaml:2: a.port: neither a number nor quoted text"),
        ("a: 0x" + "f" * 1_000_000, "f.yaml:1: a: neither a number nor quoted text"),
        ("a: 1" + ":59" * 100_000, "f.yaml:1: a: neither a number nor quoted text"),
        ("a: !!bool maybe", "f.yaml:1: a: neither a number nor quoted text"),
        ("# " + "x" * 2_000_000, "f.yaml: the file is empty"),
        ("a: 1\n\tb: 1\n", "f.yaml:2: not valid YAML: a tab"),
        ('a: 1\nb: "\\ud800"\n', "f.yaml:2: not valid YAML: half a character"),
        ("a: 1\n" + "k" * 1_000_000 + ": 1\n", "f.yaml:2: not valid YAML"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else None,
)
def test_hostile_yaml_is_one_line_in_a_moment(text: str, message: str) -> None:
    begun = time.process_time()
    assert message in problem_of(text)
    assert time.process_time() - begun < 2


def test_as_many_keys_as_anybody_writes_are_read_in_a_moment() -> None:
    begun = time.process_time()
    document = parse_document(MANY[: MANY.index("k9000")], "f.yaml")
    assert len(document.content["source"]) == 9_000
    assert time.process_time() - begun < 4


def test_json_with_characters_beyond_16_bits_is_yaml() -> None:
    text = '{"a": "\\ud83d\\ude00 \\\\ud83d", "b": "\\u00e9"}'
    assert parse_document(text, "f.yaml").content == json.loads(text)


@given(st.text(max_size=200))
def test_any_text_is_a_document_or_one_problem(text: str) -> None:
    try:
        parse_document(text, "f.yaml")
    except InvalidConfig as error:
        assert str(error).startswith("f.yaml")
        assert len(str(error).splitlines()) == 1


def test_paths_read_as_people_write_them() -> None:
    assert dotted_path(("headwater", "schemaFiles", 0, "path")) == "headwater.schemaFiles[0].path"
