"""Files of the Open Data Contract Standard (version 3), read with the lines of what they say.

Nothing of a file is run or resolved: neither tags that make objects, nor links. Aliases are followed, as often as a
file of its size could say it itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from connectors.encodings import text_encoding
from connectors.odcs.contract import (
    ENDED,
    FIRST_MAJOR,
    LAST_VERSION,
    Contract,
    ContractColumn,
    Contracts,
    ContractTable,
    QualityRule,
)
from ingestion.arguments import files_below, leads_out
from ingestion.errors import ConfigError
from ingestion.model import fqn

_MOST_BYTES = 4 << 20
_MOST_NODES = 200_000
_DEEPEST = 40
_LONGEST = 200
"""Characters of a name or a word of a contract that are shown."""
_SUFFIXES = ("*.yaml", "*.yml", "*.json")
_KIND = "DataContract"
_VERSION = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:\.\d{1,6})?(?:[-+.].*)?")
_TRUE = frozenset({"true", "yes", "on"})
_NULL, _BOOL, _MERGE = (f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "merge"))
_DATABASES = ("database", "catalog", "project", "account")
_SCHEMAS = ("schema", "dataset")
_NULL_METRICS = frozenset({"nullvalues", "missingvalues", "nullcheck", "missing_count"})
_OBJECT = "object"
_FLAGS = ("required", "primaryKey", "unique")


class _NoContract(ConfigError):
    """A file of another program."""


def read_contracts(path: Path) -> Contracts:
    """The contracts of a file, or of all YAML and JSON files below a folder.

    Raises ConfigError for a file that is named itself and is no contract, and where there is nothing to read.
    """
    if not path.exists():
        raise ConfigError(f"{path}: no such file or folder of contracts")
    if not path.is_dir():
        contract = _contract(path)
        return Contracts((contract,)) if not _has_ended(contract) else Contracts((), (), (_ended_text(contract),))
    return _in_folder(path)


def _in_folder(folder: Path) -> Contracts:
    found: list[Contract] = []
    unread: list[str] = []
    others: list[str] = []
    for pattern in _SUFFIXES:
        inside, outside = files_below(folder, pattern)
        unread += [leads_out(file) for file in outside]
        for file in inside:
            try:
                contract = _contract(file)
            except _NoContract as error:
                others.append(str(error))
            except ConfigError as error:
                unread.append(str(error))
            else:
                if _has_ended(contract):
                    others.append(_ended_text(contract))
                else:
                    found.append(contract)
    if not (found or unread or others):
        raise ConfigError(f"{folder} holds no contract: no *.yaml, *.yml or *.json file")
    return Contracts(tuple(sorted(found, key=lambda one: one.file)), tuple(sorted(unread)), tuple(sorted(others)))


def _has_ended(contract: Contract) -> bool:
    return contract.status.lower() in ENDED


def _ended_text(contract: Contract) -> str:
    return f"{contract.file}: a contract that is {contract.status}: it holds nobody to anything"


# A file as nodes of YAML, which JSON is too.


def _contract(file: Path) -> Contract:
    """Raises ConfigError, in one line with the file and where it can the line."""
    root = _root(file)
    contract = _ContractFile(str(file))
    if root is None:
        raise _NoContract(f"{file}: empty: no contract")
    if not isinstance(root, yaml.MappingNode):
        raise _NoContract(f"{file}: no contract: a contract is a mapping with apiVersion and kind")
    keys = contract.mapping(root)
    kind, version = contract.word(keys, "kind"), contract.word(keys, "apiVersion")
    if kind != _KIND and (kind or not version):
        raise _NoContract(f"{file}: no contract: kind is {kind or 'not there'}, that of a contract is {_KIND}")
    contract.check_version(version, keys)
    return contract.contract(keys)


def _root(file: Path) -> yaml.Node | None:
    text = _text(file)
    try:
        documents = yaml.compose_all(text, Loader=yaml.SafeLoader)
        root: yaml.Node | None = next(documents, None)
        if next(documents, None) is not None:
            raise ConfigError(f"{file}: several documents in one file: a contract is one")
    except RecursionError:
        raise ConfigError(f"{file}: nested too deeply for a contract") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise ConfigError(f"{file}{line}: no YAML from there on: cut, or damaged") from None
    return root


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{file}: cannot be read ({error.strerror})") from None
    if len(content) > _MOST_BYTES:
        raise ConfigError(f"{file}: larger than {_MOST_BYTES >> 20} MB, which no contract is")
    encoding = text_encoding(content[:4096])
    try:
        return content.decode("utf-8-sig" if encoding == "utf-8" else encoding or "ascii")
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: no text") from None


class _ContractFile:
    """What one file says; it counts what it looks at, for an alias may name a whole part of the file again."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._left = _MOST_NODES

    def _error(self, node: yaml.Node | None, what: str) -> ConfigError:
        line = f":{_line(node)}" if node is not None else ""
        return ConfigError(f"{self.file}{line}: {what}")

    def _count(self, node: yaml.Node) -> None:
        self._left -= 1
        if self._left < 0:
            raise self._error(node, "more than a contract has: its aliases name their own parts again and again")

    def mapping(self, node: yaml.Node | None, depth: int = 0) -> dict[str, yaml.Node]:
        """The values of a mapping by their keys; {} where there is none. Raises ConfigError for anything else."""
        if node is None or _is_null(node):
            return {}
        if not isinstance(node, yaml.MappingNode):
            raise self._error(node, "a mapping is to stand there")
        if depth > _DEEPEST:
            raise self._error(node, "nested too deeply for a contract")
        found: dict[str, yaml.Node] = {}
        merged: dict[str, yaml.Node] = {}
        for key, value in node.value:
            self._count(key)
            if key.tag == _MERGE:
                several = value.value if isinstance(value, yaml.SequenceNode) else [value]
                for one in several:
                    merged = {**self.mapping(one, depth + 1), **merged}
            elif isinstance(key, yaml.ScalarNode):
                found[key.value] = value
        return {**merged, **found}

    def items(self, node: yaml.Node | None) -> list[yaml.Node]:
        """The items of a list; [] where there is none. Raises ConfigError for anything else."""
        if node is None or _is_null(node):
            return []
        if not isinstance(node, yaml.SequenceNode):
            raise self._error(node, "a list is to stand there")
        for item in node.value:
            self._count(item)
        return list(node.value)

    def word(self, keys: dict[str, yaml.Node], key: str) -> str:
        """A text, as far as it is to be shown; "" where there is none."""
        node = keys.get(key)
        if node is None or _is_null(node):
            return ""
        if not isinstance(node, yaml.ScalarNode):
            raise self._error(node, f"{key} is to be a text")
        return " ".join(node.value.split())[:_LONGEST]

    def flag(self, keys: dict[str, yaml.Node], key: str) -> bool:
        """Whether a value is true. Raises ConfigError for one that is neither."""
        node = keys.get(key)
        if node is None or _is_null(node):
            return False
        if not isinstance(node, yaml.ScalarNode) or node.tag != _BOOL:
            raise self._error(node, f"{key} is to be true or false")
        return node.value.lower() in _TRUE

    def check_version(self, version: str, keys: dict[str, yaml.Node]) -> None:
        """Raises ConfigError for a version of the standard that is not known."""
        found = _VERSION.fullmatch(version)
        last = ".".join(map(str, LAST_VERSION))
        if found is None:
            raise self._error(keys.get("apiVersion"), f"apiVersion is to be a version of the standard, as v{last}.0")
        asked = int(found[1]), int(found[2])
        if asked[0] < FIRST_MAJOR:
            raise self._error(keys["apiVersion"], f"version {version} of the standard: v3 is read, from v3.0.0 on")
        if asked > LAST_VERSION:
            raise self._error(keys["apiVersion"], f"version {version} of the standard is newer than v{last}")

    # The parts of a contract.

    def contract(self, keys: dict[str, yaml.Node]) -> Contract:
        """The contract that a mapping is."""
        return Contract(
            self.file,
            self.word(keys, "name") or self.word(keys, "id") or Path(self.file).stem,
            self.word(keys, "version"),
            self.word(keys, "status"),
            self._owners(keys),
            tuple(dict.fromkeys(self._homes(keys))),
            tuple(self._table(one) for one in self.items(keys.get("schema"))),
        )

    def _owners(self, keys: dict[str, yaml.Node]) -> tuple[str, ...]:
        """Members of the team whose role is an owner's, else the team, else the domain."""
        node = keys.get("team")
        team = self.mapping(node) if isinstance(node, yaml.MappingNode) else {}
        members = self.items(team.get("members") if team else node)
        owners = (
            self.word(member, "username") or self.word(member, "name")
            for member in map(self.mapping, members)
            if "owner" in self.word(member, "role").lower() and not self.word(member, "dateOut")
        )
        others = (self.word(team, "name"), self.word(keys, "domain"))
        return tuple(dict.fromkeys(filter(None, owners))) or tuple(filter(None, others))[:1]

    def _homes(self, keys: dict[str, yaml.Node]) -> Iterator[tuple[str, ...]]:
        for server in map(self.mapping, self.items(keys.get("servers"))):
            databases, schemas = (
                [self.word(server, key) for key in of if isinstance(server.get(key), yaml.ScalarNode)]
                for of in (_DATABASES, _SCHEMAS)
            )
            yield tuple(filter(None, (next(filter(None, some), "") for some in (databases, schemas))))

    def _table(self, node: yaml.Node) -> ContractTable:
        keys = self.mapping(node)
        name = self.word(keys, "physicalName") or self.word(keys, "name")
        if not name:
            raise self._error(node, "a table of a contract is to have a name")
        columns, rules = tuple(self._columns(keys, ())), tuple(self._rules(keys))
        parts = tuple(map(fqn.decode_name, fqn.written_parts(name)))
        return ContractTable(parts, _line(node), columns, rules, self.word(keys, "physicalType"))

    def _columns(self, keys: dict[str, yaml.Node], above: tuple[str, ...]) -> Iterator[ContractColumn]:
        if len(above) > _DEEPEST:
            raise self._error(keys.get("properties"), "nested too deeply for a contract")
        for node in self.items(keys.get("properties")):
            own = self.mapping(node)
            name = self.word(own, "physicalName") or self.word(own, "name")
            if not name:
                raise self._error(node, "a property of a contract is to have a name")
            path = (*above, name)
            required, key, unique = (self.flag(own, flag) for flag in _FLAGS)
            types = self.word(own, "physicalType"), self.word(own, "logicalType")
            yield ContractColumn(path, _line(node), *types, required, key, unique, tuple(self._rules(own)))
            if self.word(own, "logicalType") in ("", _OBJECT):
                yield from self._columns(own, path)

    def _rules(self, keys: dict[str, yaml.Node]) -> Iterator[QualityRule]:
        for node in self.items(keys.get("quality")):
            rule = self.mapping(node)
            metric = self.word(rule, "metric") or self.word(rule, "rule")
            name = self.word(rule, "name") or metric or self.word(rule, "description") or self.word(rule, "type")
            query = rule.get("query")
            text = query.value if isinstance(query, yaml.ScalarNode) else ""
            none = self.word(rule, "mustBe") == "0" or self.word(rule, "mustBeLessThan") == "1"
            of = metric.lower()
            yield QualityRule(name or "a rule", _line(node), text, none and of in _NULL_METRICS)


def _line(node: yaml.Node) -> int:
    line: int = node.start_mark.line
    return line + 1


def _is_null(node: yaml.Node) -> bool:
    return bool(node.tag == _NULL)
