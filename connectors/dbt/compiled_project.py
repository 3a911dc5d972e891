"""What `dbt compile` wrote, without anything else: files whose own names stand in the queries of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from connectors.dbt.model_statements import DbtProject, ModelQuery, adapter_dialect, model_statements
from connectors.dbt.project.packages import text_of
from connectors.dbt.rendering.relations import relation_name
from connectors.dbt.target.nodes import EPHEMERAL_PREFIX, DbtNode, ResourceKind
from ingestion.dialects import dialect_of
from ingestion.errors import ConfigError
from ingestion.lexing import NAME, STRING, WORD, tokens

_NO_MODELS = frozenset({"tests", "data-tests", "analyses", "analysis"})
_YAML = (".yml", ".yaml")
_QUALIFIED = 3


def is_compiled_folder(path: Path) -> bool:
    """Whether a folder is dbt's `target/compiled`, or one of a package in it."""
    return "compiled" in (path.name, path.parent.name) and any(path.rglob("*.sql"))


def project_from_compiled(path: Path, dialect: str | None) -> DbtProject:
    """The models of a folder of compiled files, each under the name by which others read it.

    One that no other reads stands where all those of its project stand; where these differ, it keeps its bare name.
    Raises ConfigError where no dialect is given, since nothing there tells it.
    """
    if dialect is None:
        raise ConfigError(f"{path}: compiled files do not say what their SQL is: name it with --dialect")
    language = adapter_dialect(dialect)
    texts = {file: text_of(file) for file in sorted(path.rglob("*.sql")) if _is_model(file.relative_to(path))}
    names = {name for text in texts.values() for name in _qualified_names(text, language)}
    whole = " ".join(texts.values())
    ephemeral = {file for file in texts if f"{EPHEMERAL_PREFIX}{file.stem}" in whole}
    places = _places([file.stem for file in texts if file not in ephemeral], names)
    nodes: dict[str, DbtNode] = {}
    queries: list[ModelQuery] = []
    for file, text in texts.items():
        if file in ephemeral:
            continue
        place = places[file.stem]
        read = tuple(sorted(_id(parts) for parts in _qualified_names(text, language)))
        node = DbtNode(
            _id(place),
            ResourceKind.MODEL,
            file.stem,
            path.name,
            relation_name(place, language),
            place,
            str(file),
            depends_on=tuple(name for name in read if name != _id(place)),
        )
        nodes[node.unique_id] = node
        queries.append(ModelQuery(node, text, str(file)))
    statements, failures = model_statements(queries, nodes, language)
    notes = ("compiled files alone: a model's name is told by those that read it",)
    return DbtProject(path.name, language, nodes, statements, failures=failures, notes=notes)


def _qualified_names(text: str, dialect: str) -> Iterator[tuple[str, str, str]]:
    """The names of two or three parts in a text: (database, schema, name), and what only looks like one."""
    rules = dialect_of(dialect)
    run: list[str] = []
    dotted = False
    for token in tokens(text, rules):
        if token.text == "." and run:
            dotted = True
            continue
        is_name = token.kind in (WORD, NAME) or (token.kind == STRING and token.text[:1] in rules.name_quotes)
        if is_name and dotted:
            run.append(_unquote(token.text))
        else:
            yield from _place(run)
            run = [_unquote(token.text)] if is_name else []
        dotted = False
    yield from _place(run)


def _place(run: list[str]) -> Iterator[tuple[str, str, str]]:
    if len(run) == _QUALIFIED:
        yield run[0], run[1], run[2]
    elif len(run) == _QUALIFIED - 1:
        yield "", run[0], run[1]


def _unquote(name: str) -> str:
    return name[1:-1] if name[:1] in '"`[' and len(name) > 1 else name


def _places(stems: Iterable[str], names: Iterable[tuple[str, str, str]]) -> dict[str, tuple[str, str, str]]:
    by_name: dict[str, set[tuple[str, str, str]]] = {}
    for name in names:
        by_name.setdefault(name[2].lower(), set()).add(name)
    found: dict[str, tuple[str, str, str]] = {}
    stems = list(stems)
    for stem in stems:
        known = by_name.get(stem.lower(), set())
        if len(known) == 1:
            found[stem] = next(iter(known))
    homes = {place[:2] for place in found.values()}
    home = homes.pop() if len(homes) == 1 else ("", "")
    return {stem: found.get(stem, (*home, stem)) for stem in stems}


def _id(place: tuple[str, str, str]) -> str:
    return ".".join(filter(None, place))


def _is_model(file: Path) -> bool:
    """Not a test, which is compiled below the YAML file or the folder that has it, and no analysis."""
    folders = file.parent.parts
    return not any(folder.endswith(_YAML) or folder in _NO_MODELS for folder in folders)
