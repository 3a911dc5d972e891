"""The files of a LookML project, parsed and put together: refinements and extensions are carried out, constants set."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import lkml
import yaml

from connectors.assets import UnreadFile
from connectors.dashboards.files import ExportedFile
from connectors.dashboards.yaml_texts import read_yaml
from ingestion.dialects.definition import keywords

ENDINGS = (".lkml", ".lookml")
_DASHBOARD = ".dashboard.lookml"
_MODEL = ".model.lkml"
_PATTERN_PART = re.compile(r"\*\*/|\*+|[^*]+")
_OF_PATTERN: Mapping[str, str] = {"**/": "(?:.*/)?", "*": "[^/]*", "**": ".*"}
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
    """A view, an explore or a dashboard, and where it stands; `home`: the model that it is in."""

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
    includes: dict[str, tuple[str, ...]] = field(default_factory=dict)
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
        elif file.name.lower().endswith(ENDINGS[1]):
            found.unread.append(UnreadFile(f"{file.name}:1", "it is LookML in YAML, as it was before 2016: convert it"))
        else:
            _read_file(file, constants, found)
    models = _models_of_files(found.includes)
    return LookmlProject(
        tuple(_in_one_model(view, models) for view in _whole_blocks(found.views)),
        tuple(one for explore in _whole_blocks(found.explores) for one in _in_models(explore, models)),
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
    home = _stem(file.name)
    for key, into in (("views", found.views), ("explores", found.explores)):
        for block in parsed.get(key) or ():
            into.append(LocatedBlock(block, f"{file.name}:{_line(text, key[:-1], str(block.get('name')))}", home))
    given = parsed.get("includes")
    found.includes[file.name] = tuple(map(str, given)) if isinstance(given, list) else ()
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


# An explore is in each model whose file has it, or includes the file that has it, itself or by way of others.


def _models_of_files(includes: Mapping[str, tuple[str, ...]]) -> Mapping[str, tuple[str, ...]]:
    """By files, the models that include them, in order of their names."""
    found: dict[str, list[str]] = {}
    ahead = {file: _files_included(file, patterns, includes) for file, patterns in includes.items()}
    for model in sorted(file for file in includes if file.lower().endswith(_MODEL)):
        reached, waiting = {model}, [model]
        while waiting:
            new = [one for one in ahead[waiting.pop()] if one not in reached]
            reached.update(new)
            waiting += new
        for file in reached:
            found.setdefault(file, []).append(_stem(model))
    return {file: tuple(models) for file, models in found.items()}


def _files_included(file: str, patterns: Iterable[str], files: Iterable[str]) -> list[str]:
    """The files that another one includes, by patterns from its own folder or any above it, the project's among them.

    `/views/*.view`, as older projects have it, means `/views/*.view.lkml`.
    """
    parts = file.split("/")[:-1]
    folders = ["/".join((*parts[:count], "")) if count else "" for count in range(len(parts) + 1)]
    texts = (one.strip().removeprefix("/") for one in patterns if not one.strip().startswith("//"))  # of other projects
    matching = [_PATTERN_PART.sub(lambda match: _OF_PATTERN.get(match[0], re.escape(match[0])), one) for one in texts]
    if not matching:
        return []
    whole = re.compile(f"(?:{'|'.join(map(re.escape, folders))})(?:{'|'.join(matching)})(?:\\.lkml)?", re.IGNORECASE)
    return [one for one in files if whole.fullmatch(one)]


def _in_models(one: LocatedBlock, models: Mapping[str, tuple[str, ...]]) -> tuple[LocatedBlock, ...]:
    """A block in each of its models; as it is where its file is in none, or is a model's own."""
    file = one.location.rpartition(":")[0]
    homes = models.get(file, ()) if not file.lower().endswith(_MODEL) else ()
    return tuple(replace(one, home=home) for home in homes) or (one,)


def _in_one_model(one: LocatedBlock, models: Mapping[str, tuple[str, ...]]) -> LocatedBlock:
    """A view in its model; of several none is its own."""
    found = _in_models(one, models)
    return found[0] if len(found) == 1 else one


def _stem(file: str) -> str:
    return file.rpartition("/")[2].split(".")[0]


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
