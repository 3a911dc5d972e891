"""The files of a LookML project, parsed and put together: refinements and extensions are carried out, constants set."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import lkml
import yaml

from connectors.assets import UnreadFile
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.yaml_texts import read_yaml
from ingestion.dialects.definition import keywords

ENDINGS = (".lkml", ".lookml")
_DASHBOARD = ".dashboard.lookml"
_CONSTANT = re.compile(r"@\{\s*(\w+)\s*\}")
_LISTS = ("dimensions", "dimension_groups", "measures", "joins")
_BLOCKS = keywords(
    "views explores constants dimensions dimension_groups measures joins columns derived_columns derived_table "
    "explore_source"
)
_REFINES = "+"
_DEEPEST = 50

# what it warns of, a key that is given twice, names no file
logging.getLogger("lkml").setLevel(logging.ERROR)

Block = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LocatedBlock:
    """A view, an explore or a dashboard, and where it stands; `home`: the model of the file that has it."""

    block: Block = field(repr=False)
    location: str
    home: str

    @property
    def name(self) -> str:
        return str(self.block.get("name") or "")


@dataclass(frozen=True, slots=True)
class LookmlProject:
    """What a project has, views and explores as they are once all that refines and extends them is.

    `connections`: by model. Of a name that several have there are several.
    """

    views: tuple[LocatedBlock, ...] = ()
    explores: tuple[LocatedBlock, ...] = ()
    dashboards: tuple[LocatedBlock, ...] = ()
    connections: Mapping[str, str] = field(default_factory=dict)
    unread: tuple[UnreadFile, ...] = ()


@dataclass(slots=True)
class _FoundBlocks:
    """What the files say, each block by itself."""

    views: list[LocatedBlock] = field(default_factory=list)
    explores: list[LocatedBlock] = field(default_factory=list)
    dashboards: list[LocatedBlock] = field(default_factory=list)
    connections: dict[str, str] = field(default_factory=dict)
    unread: list[UnreadFile] = field(default_factory=list)


def read_project(files: Iterable[ExportedFile]) -> LookmlProject:
    """The project that these files are."""
    given = tuple(files)
    constants = _constants(given)
    found = _FoundBlocks()
    for file in given:
        if file.problem:
            found.unread.append(UnreadFile(f"{file.name}:1", file.problem))
        elif file.name.lower().endswith(_DASHBOARD):
            _read_dashboards(file, found)
        elif not file.name.lower().endswith(ENDINGS[1]):
            _read_file(file, constants, found)
    return LookmlProject(
        tuple(_whole_blocks(found.views)),
        tuple(_whole_blocks(found.explores)),
        tuple(found.dashboards),
        found.connections,
        tuple(found.unread),
    )


def _constants(files: Iterable[ExportedFile]) -> Mapping[str, str]:
    """Those of the manifest."""
    found: dict[str, str] = {}
    for file in files:
        if file.name.rpartition("/")[2] == "manifest.lkml" and not file.problem:
            manifest = _parse(file.text)
            for one in manifest.get("constants") or () if manifest is not None else ():
                if isinstance(one.get("value"), str):
                    found[str(one["name"])] = one["value"]
    return found


def _parse(text: str) -> Block | None:
    """A file's blocks, None where it is no LookML."""
    try:
        found: Block = lkml.load(text)
    except (SyntaxError, RecursionError, ValueError, KeyError, IndexError, AttributeError, TypeError):
        return None  # the parser's own border: it raises whatever it stumbles over
    return found if _is_whole(found) else None


def _is_whole(block: Block) -> bool:
    """Whether what is to be a block is one throughout: of `view: orders`, cut before its brace, only a word is left."""
    for key, value in block.items():
        several = value if isinstance(value, list) else [value]
        if key in _BLOCKS and not all(isinstance(one, dict) for one in several):
            return False
        if not all(_is_whole(one) for one in several if isinstance(one, dict)):
            return False
    return True


def _read_file(file: ExportedFile, constants: Mapping[str, str], found: _FoundBlocks) -> None:
    text = _CONSTANT.sub(lambda match: constants.get(match[1], match[0]), file.text)
    parsed = _parse(text)
    if parsed is None:
        found.unread.append(UnreadFile(f"{file.name}:1", "it is no LookML, or is cut"))
        return
    home = file.name.rpartition("/")[2].split(".")[0]
    for key, into in (("views", found.views), ("explores", found.explores)):
        for block in parsed.get(key) or ():
            into.append(LocatedBlock(block, f"{file.name}:{_line(text, key[:-1], str(block.get('name')))}", home))
    if isinstance(parsed.get("connection"), str):
        found.connections[home] = parsed["connection"]


def _line(text: str, kind: str, name: str) -> int:
    match = re.search(rf"\b{kind}\s*:\s*{re.escape(name)}\b", text)
    return text.count("\n", 0, match.start()) + 1 if match else 1


def _read_dashboards(file: ExportedFile, found: _FoundBlocks) -> None:
    try:
        content = read_yaml(file.text)
    except yaml.YAMLError:
        found.unread.append(UnreadFile(f"{file.name}:1", "it is no YAML, or is cut"))
        return
    for one in content if isinstance(content, list) else ():
        if isinstance(one, dict) and isinstance(one.get("dashboard"), str):
            block = {**one, "name": one["dashboard"]}
            line = _line(file.text, "dashboard", one["dashboard"])
            found.dashboards.append(LocatedBlock(block, f"{file.name}:{line}", ""))


# Refinements go into what they refine, in the order of the files; extensions take what they do not say from others.


def _whole_blocks(given: Iterable[LocatedBlock]) -> Iterator[LocatedBlock]:
    blocks = tuple(given)
    own = [one for one in blocks if not one.name.startswith(_REFINES)]
    refinements: dict[str, list[Block]] = {}
    for one in blocks:
        if one.name.startswith(_REFINES):
            refinements.setdefault(one.name[1:], []).append(one.block)
    refined = [_refine(one, refinements.get(one.name, ())) for one in own]
    by_name: dict[str, list[LocatedBlock]] = {}
    for one in refined:
        by_name.setdefault(one.name, []).append(one)
    for one in refined:
        yield LocatedBlock(_extend(one.block, by_name, ()), one.location, one.home)


def _refine(one: LocatedBlock, refinements: Iterable[Block]) -> LocatedBlock:
    block = one.block
    for refinement in refinements:
        block = {**_merge(block, refinement), "name": one.name}
    return LocatedBlock(block, one.location, one.home)


def _extend(block: Block, by_name: Mapping[str, list[LocatedBlock]], above: tuple[str, ...]) -> Block:
    """A block with what it takes from those that it extends; one that several are called says nothing."""
    name = str(block.get("name") or "")
    if name in above or len(above) > _DEEPEST:
        return block
    whole: Block = {}
    for parent in _parents(block):
        known = by_name.get(parent, [])
        if len(known) == 1 and parent != name:
            base = _extend(known[0].block, by_name, (*above, name))
            whole = _merge(whole, {key: value for key, value in base.items() if key != "extension"})
    return _merge(whole, block)


def _parents(block: Block) -> Iterator[str]:
    for key in ("extends__all", "extends"):
        for entry in block.get(key) or ():
            yield from (str(one) for one in entry) if isinstance(entry, list) else (str(entry),)


def _merge(base: Block, over: Block) -> dict[str, Any]:
    """`base` with what `over` says: fields and joins one by one, all else whole."""
    merged = {**base, **over}
    for key in _LISTS:
        if key in base or key in over:
            fields = {str(one.get("name")): one for one in base.get(key) or ()}
            for one in over.get(key) or ():
                name = str(one.get("name"))
                fields[name] = {**fields.get(name, {}), **one}
            merged[key] = list(fields.values())
    return merged
