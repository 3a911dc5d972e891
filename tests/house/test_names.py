"""Names: one class a name, the words of the glossary, nothing looked up by a made-up name."""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.house.source_tree import REPOSITORY, Module, modules, words_of

WIRE_ROOMS = ("connectors.catalog.contract", "workflows.config.models")
"""Their classes bear the names of the contract and of the YAML."""

GLOSSARY = REPOSITORY / "docs" / "glossary.md"
OTHER_SENSES = (
    *("dead letters", "dead letter"),
    *("utf 8 slice codeunits",),
)
"""Of words that the glossary has not: where they are another word, or that of a library."""


def _classes() -> Iterator[tuple[str, Module]]:
    for module in modules():
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                yield node.name, module


def test_a_class_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for name, module in _classes():
        if not module.name.startswith(WIRE_ROOMS):
            homes[name].append(module.name)
    assert {name: found for name, found in homes.items() if len(found) > 1} == {}


def _glossary() -> list[tuple[str, str, list[str]]]:
    """Of each row: the word, its sentence, and what is not said in its place."""
    rows = [line.strip("|").split("|") for line in GLOSSARY.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [(word.strip(), meaning.strip(), re.findall(r"`([^`]+)`", unused)) for word, meaning, unused in rows[1:]]


@cache
def _text(identifier: str) -> str:
    """Its words, with blanks around them."""
    return f" {' '.join(words_of(identifier))} "


@cache
def _without_other_senses(text: str) -> str:
    for sense in OTHER_SENSES:
        text = text.replace(f" {sense} ", " ")
    return text


def _holds(text: str, words: str) -> bool:
    """Whether the words, or the plural of the last one, stand in a text one after the other."""
    return f" {words} " in text or f" {words}s " in text


def _is_said(text: str, unused: str) -> bool:
    return _holds(_without_other_senses(text), unused)


def _unused_words() -> list[str]:
    after = GLOSSARY.read_text("utf-8").rpartition("|\n")[2]
    return [word for _, _, unused in _glossary() for word in unused] + re.findall(r"`([^`]+)`", after)


@cache
def _homes_by_text() -> dict[str, set[str]]:
    """The modules and names that a text of words stands for; not of names that belong to Python."""
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules():
        for name in {*module.identifiers(), module.name.rpartition(".")[2]}:
            if not hasattr(builtins, name):
                found[_text(name)].add(f"{module.name}: {name}")
    return found


@pytest.mark.parametrize("words", _unused_words())
def test_no_name_has_a_word_that_the_glossary_has_not(words: str) -> None:
    found = {name for text, homes in _homes_by_text().items() if _is_said(text, words) for name in homes}
    assert sorted(found) == []


def test_each_word_of_the_glossary_has_one_sentence_and_is_one_of_the_code() -> None:
    for word, meaning, _ in _glossary():
        assert meaning.endswith("."), word
        assert any(_holds(text, word) for text in _homes_by_text()), word


def test_a_word_is_found_in_whatever_way_a_name_is_written() -> None:
    names = ["place", "_places_of", "PLACES", "TablePlace", "replace", "placement", "dead_letters", "letters_of"]
    assert [name for name in names if _is_said(_text(name), "place")] == ["place", "_places_of", "PLACES", "TablePlace"]
    assert [name for name in names if _is_said(_text(name), "letters")] == ["letters_of"]


IRREGULAR_PARTICIPLES = frozenset(
    {
        *("begun", "born", "bound", "broken", "brought", "built", "caught", "chosen", "dealt", "done"),
        *("drawn", "driven", "fallen", "fed", "felt", "forgotten", "found", "frozen", "given", "gone"),
        *("gotten", "grown", "heard", "held", "hidden", "kept", "known", "laid", "led", "left", "lent"),
        *("lost", "made", "meant", "met", "overwritten", "paid", "proven", "rebound", "rebuilt", "rewritten"),
        *("said", "seen", "sent", "shown", "shut", "sold", "spent", "spoken", "spread", "stolen", "stood"),
        *("struck", "sunk", "sworn", "taken", "taught", "thought", "thrown", "told", "torn", "understood"),
        *("undone", "unknown", "unset", "untold", "withdrawn", "won", "worn", "wound", "woven", "written"),
    }
)
NO_PARTICIPLES = frozenset({"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed"})
"""Verbs and nouns that end as participles do. A verb whose participle is the verb itself (read, set, put) is one."""
NAMES_OF_OTHERS = {("connectors.dbt._template_values", "quoted")}
"""A method that the templates of dbt's users call."""


def _is_bare_participle(name: str) -> bool:
    word = name.strip("_").lower()
    if "_" in word or word in NO_PARTICIPLES:
        return False
    return word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and len(word) > len("bed"))


def _functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions and methods in a module, without properties: those are named as fields are."""
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and not any(
            ast.unparse(one).rpartition(".")[2] in ("property", "cached_property") for one in part.decorator_list
        ):
            yield part


def test_a_function_is_a_verb_or_what_it_returns() -> None:
    found = {
        (module.name, function.name)
        for module in modules()
        for function in _functions(module.tree)
        if _is_bare_participle(function.name)
    }
    assert found - NAMES_OF_OTHERS == set()


def test_a_bare_participle_is_found_and_a_participle_before_a_noun_is_none() -> None:
    tree = ast.parse(
        "def _masked(t): ...\ndef written(): ...\ndef _masked_text(t): ...\ndef _feed(): ...\ndef read(): ...\n"
        "class C:\n    def known(self): ...\n    @property\n    def settled(self): ...\n"
        "    @cached_property\n    def bound(self): ...\n"
    )
    found = [function.name for function in _functions(tree) if _is_bare_participle(function.name)]
    assert found == ["_masked", "written", "known"]


def test_attributes_are_first_set_when_an_object_is_made() -> None:
    assert [found for module in modules() for found in _late_attributes(module)] == []


def test_an_attribute_that_is_set_late_is_found() -> None:
    tree = ast.parse(
        "class Some:\n    known: int\n"
        "    def __init__(self):\n        self.first = 1\n"
        "    def later(self):\n        self.first, self.known = 2, 3\n        self.second = 4\n"
    )
    assert list(_late_attributes(Module("some", Path("some.py"), tree))) == ["some.py:7: second"]


def _late_attributes(module: Module) -> Iterator[str]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            methods = [part for part in node.body if isinstance(part, ast.FunctionDef)]
            known = {ast.unparse(part.target) for part in node.body if isinstance(part, ast.AnnAssign)}
            known |= {target.attr for method in methods if method.name == "__init__" for target in _set_by(method)}
            for method in methods:
                for target in _set_by(method):
                    if target.attr not in known:
                        yield f"{module.path}:{target.lineno}: {target.attr}"


def _set_by(method: ast.FunctionDef) -> Iterator[ast.Attribute]:
    for node in ast.walk(method):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node


def test_no_attribute_is_looked_up_by_a_name_that_is_put_together() -> None:
    found = [
        f"{module.path}:{node.lineno}"
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) > 1
        and isinstance(node.args[1], ast.JoinedStr)
    ]
    assert found == []
