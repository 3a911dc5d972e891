"""Every regular expression of the project on hostile text of growing length: none takes more than a few passes over it.

The texts are made of each pattern's own parts, repeated: its characters, the beginnings of its repeats, and its halves.
Time is the process's own, so that other work on the machine does not count.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

import pytest

from ingestion.dialects import DIALECTS
from ingestion.dialects.lexing import lexicon_of

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ingestion", "connectors", "workflows")
LIMITS = ((16_000, 0.005), (64_000, 0.5))
"""Lengths of the texts, and the seconds that make the longer one worth a look, or, on that one, a pattern slow.

On the longer one the slowest linear pattern takes a quarter of its limit, the quickest quadratic one ten times as much.
"""
TEXTS = 24
ANCHORED = frozenset({"match", "fullmatch"})


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern, where it stands, and whether it is only ever applied at a text's start."""

    where: str
    pattern: re.Pattern[str]
    anchored: bool


def modules() -> Iterator[ModuleType]:
    for package in PACKAGES:
        top = importlib.import_module(package)
        yield top
        for found in pkgutil.walk_packages(top.__path__, f"{package}."):
            if not found.name.endswith("__main__"):
                with suppress(ImportError):  # of a package that an installation may lack
                    yield importlib.import_module(found.name)


def patterns_in(value: object, depth: int = 4) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, Mapping):
        yield from chain.from_iterable(patterns_in(item, depth - 1) for item in value.values())
    elif depth and isinstance(value, tuple | list | frozenset | set):
        yield from chain.from_iterable(patterns_in(item, depth - 1) for item in value)
    elif depth and is_dataclass(value) and not isinstance(value, type):
        yield from chain.from_iterable(patterns_in(getattr(value, each.name), depth - 1) for each in fields(value))


@cache
def trees() -> dict[str, ast.Module]:
    files = chain.from_iterable((ROOT / package).rglob("*.py") for package in PACKAGES)
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text()) for path in files}


@cache
def uses_by_file() -> dict[str, dict[str, set[str]]]:
    """How each file uses its names: `NAME.search(…)` gives "search", `f(NAME)` gives "any"."""
    found: dict[str, dict[str, set[str]]] = {}
    for path, tree in trees().items():
        used = found.setdefault(path, {})
        called = set()
        for node in ast.walk(tree):  # breadth first: what is around a name comes before it
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                used.setdefault(node.value.id, set()).add(node.attr)
                called.add(id(node.value))
            elif isinstance(node, ast.Name) and id(node) not in called and isinstance(node.ctx, ast.Load):
                used.setdefault(node.id, set()).add("any")
    return found


def uses(name: str, module: str) -> set[str]:
    """How a name is used; a private one in its own module only."""
    own = module.replace(".", "/")
    files = uses_by_file().items()
    return set().union(*(used.get(name, ()) for path, used in files if name[:1] != "_" or path.startswith(own)))


def inline_patterns() -> Iterator[Used]:
    """re.search("…", text) and the like, without a name of the module's."""
    for path, tree in trees().items():
        named = {id(node) for each in tree.body if isinstance(each, ast.Assign) for node in ast.walk(each)}
        for node in ast.walk(tree):
            if id(node) in named:
                continue
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
                continue
            module, text = node.func.value, node.args[0]
            constant = text.value if isinstance(text, ast.Constant) else None
            if isinstance(module, ast.Name) and module.id == "re" and isinstance(constant, str):
                yield Used(f"{path}:{node.lineno}", re.compile(constant), node.func.attr in ANCHORED)


def all_patterns() -> list[Used]:
    found: dict[tuple[str, int], Used] = {}
    for module in modules():
        for name, value in vars(module).items():
            for pattern in patterns_in(value):
                how = uses(name, module.__name__)
                key = (pattern.pattern, pattern.flags)
                each = Used(f"{module.__name__}.{name}", pattern, bool(how) and how <= ANCHORED | {"pattern"})
                if key not in found or (found[key].anchored and not each.anchored):
                    found[key] = each
    for dialect in DIALECTS:
        for pattern in patterns_in(lexicon_of(dialect)):
            found.setdefault((pattern.pattern, pattern.flags), Used(f"lexicon of {dialect}", pattern, False))
    for each in inline_patterns():
        found.setdefault((each.pattern.pattern, each.pattern.flags), each)
    return list(found.values())


def sample(node: object) -> str:
    """A text that a parsed pattern matches, or nearly: groups' contents, first branches, one of what repeats."""
    text = ""
    for operation, value in node:  # type: ignore[attr-defined]
        name = str(operation)
        if name == "LITERAL":
            text += chr(value)
        elif name == "NOT_LITERAL":
            text += "a" if value != ord("a") else "b"
        elif name == "ANY":
            text += "a"
        elif name == "IN":
            text += _member(value)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += sample(value[2]) * max(value[0], 1 if value[1] else 0)
        elif name == "SUBPATTERN":
            text += sample(value[3])
        elif name == "ATOMIC_GROUP":
            text += sample(value)
        elif name == "BRANCH":
            text += sample(value[1][0])
    return text


def _member(items: list[tuple[object, object]]) -> str:
    """One character of a class."""
    negated = str(items[0][0]) == "NEGATE"
    for character in chain("a 1\n\t.,;(='\"`{<", map(chr, range(33, 1024))):
        if negated != any(_is_in(character, str(operation), value) for operation, value in items if value is not None):
            return character
    kind, value = items[0]
    return chr(value[0] if str(kind) == "RANGE" else value)  # type: ignore[index,arg-type]


def _is_in(character: str, operation: str, value: Any) -> bool:
    if operation == "LITERAL":
        return bool(ord(character) == value)
    if operation == "RANGE":
        return bool(value[0] <= ord(character) <= value[1])
    classes = {"SPACE": r"\s", "WORD": r"\w", "DIGIT": r"\d"}
    kind = str(value).removeprefix("CATEGORY_")
    matched = re.match(classes[kind.removeprefix("NOT_")], character) is not None
    return matched != kind.startswith("NOT_")


def sequences(node: object) -> Iterator[list[object]]:
    """Each sequence of a parsed pattern, of the whole and of every group, branch and repeat in it."""
    items = list(node)  # type: ignore[call-overload]
    yield items
    for operation, value in items:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield from sequences(value[2])
        elif name == "SUBPATTERN":
            yield from sequences(value[3])
        elif name == "ATOMIC_GROUP":
            yield from sequences(value)
        elif name == "BRANCH":
            yield from chain.from_iterable(sequences(branch) for branch in value[1])
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from sequences(value[1])


def hostile(pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    """What a text begins with, and what it repeats."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    seen: set[tuple[str, str]] = set()
    for items in sequences(parsed):
        pieces = [sample([item]) for item in items]
        for place, piece in enumerate(pieces):
            before = "".join(pieces[:place])[-40:]
            following = "".join(pieces[place + 1 : place + 2])
            for start, unit in (("", piece), (before, piece), ("", before + piece), ("", piece + following)):
                if unit and (start, unit) not in seen:
                    seen.add((start, unit))
                    yield start, unit
    for (_, left), (_, right) in islice(pairwise(sorted(seen)), 10):
        yield left, right


class TakesTooLong(Exception):
    """The processor's time for one text is used up."""


def reaches(seconds: float, each: Used, text: str) -> bool:
    """Whether the pattern takes that much of the process's time for the text; it is stopped then."""

    def give_up(_number: int, _frame: FrameType | None) -> None:
        raise TakesTooLong

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    begun = time.process_time()
    try:
        if each.anchored:
            each.pattern.match(text)
        else:
            for _ in each.pattern.finditer(text):
                pass
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except TakesTooLong:
        return True
    finally:
        signal.signal(signal.SIGVTALRM, signal.SIG_IGN)  # it may come between the text's end and this
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return time.process_time() - begun >= seconds


def worst(each: Used) -> tuple[str, str] | None:
    """The first text that the pattern takes more than a few passes over, None where there is none."""
    for start, unit in islice(hostile(each.pattern), TEXTS):
        if all(reaches(limit, each, start + unit * (length // len(unit)) + "\x00") for length, limit in LIMITS):
            return start, unit
    return None


def test_no_pattern_takes_more_than_a_few_passes_over_hostile_text() -> None:
    found = all_patterns()
    assert len(found) > 200
    slow = {each.where: (each.pattern.pattern[:80], worst_text) for each in found if (worst_text := worst(each))}
    assert slow == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"\n\s*+select\b",
        r"\bas\s+\(?\s*(?:table|with)\b",
        r"\{\{(?:(?!\}\}).)*\}\}",
        r"(?:a+)+b",
        r"\s+,",
        r"a.*b.*c",
    ],
)
def test_what_grows_with_the_square_of_a_text_is_found(pattern: str) -> None:
    assert worst(Used("here", re.compile(pattern), anchored=False)) is not None


@pytest.mark.parametrize(
    "pattern", [r"\n[^\S\n]*+select\b", r"\bas\b[\s(]*+with\b", r"'[^']*+'", r"(?<![a-z])[a-z]++\s*+=", r"\w+"]
)
def test_what_is_linear_is_not_suspected(pattern: str) -> None:
    assert worst(Used("here", re.compile(pattern), anchored=False)) is None
