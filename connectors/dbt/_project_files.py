"""A project's own files: dbt_project.yml, packages, YAML beside models, and the nodes that they make."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from connectors.dbt._macros import macros_in
from connectors.dbt._template_scope import TemplateMacro, TemplateNode, TemplateScope, TemplateSource
from connectors.dbt.artifacts import mapping_of, mappings_of, url_without_secrets
from connectors.dbt.nodes import DbtColumn, DbtExposure
from connectors.yaml_values import load_yaml
from ingestion.arguments import files_below, leads_out
from ingestion.errors import ConfigError

_LARGEST_FILE = 16 << 20
_LONGEST_HEADER = 1 << 20

PROJECT_FILE = "dbt_project.yml"
_KEPT_OF_TARGET = ("type", "schema", "dataset", "database", "project", "dbname", "catalog")
"""Of a profile. What else stands there may be a secret."""

_CALL = re.compile(r"\b(ref|source)\s*+\(([^()]*+)\)")
_TEXT = re.compile(r"['\"]([^'\"]++)['\"]")
_VERSION = re.compile(r"\bv(?:ersion)?\s*+=\s*+['\"]?(\w++)")

_SNAPSHOT = re.compile(r"\{%-?\s*snapshot\s+(\w+)\s*-?%\}([\s\S]*?)\{%-?\s*endsnapshot\s*-?%\}")


# The YAML of a project, as plain values.


def _read_mapping(file: Path) -> dict[str, Any]:
    """The mapping in a YAML file, an empty one for an empty file. Raises ConfigError with the line."""
    try:
        _refuse_large(file)
        content = load_yaml(file.read_bytes())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line, why = (f":{mark.line + 1}", "") if mark is not None else ("", f" ({error})")
        raise ConfigError(f"{file}{line}: not valid YAML{why}") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    return mapping_of(content)


def _texts(value: object, default: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The texts of a list, or a lone one."""
    if isinstance(value, str):
        return (value,)
    return tuple(map(str, value)) if isinstance(value, list) else default


# A project and its packages: dbt_project.yml, and what it says of folders, variables and configs.


@dataclass(frozen=True, slots=True)
class Package:
    """A package's dbt_project.yml; the project itself is one too. Folders are below `root`."""

    name: str
    root: Path
    folders: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, Any] = field(default_factory=dict, repr=False)
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, repr=False)
    dispatch: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    profile: str = ""
    target_path: str = "target"
    packages_path: str = "dbt_packages"

    def files(self, kind: str, suffixes: tuple[str, ...]) -> Iterator[Path]:
        """The files of its folders of a kind (model, macro, seed, snapshot), in the order of their names."""
        for folder in self.folders[kind]:
            found, _outside = self._files_in(folder)
            yield from (file for file in found if file.suffix in suffixes and file.is_file())

    def notes_of_outside(self) -> Iterator[str]:
        """What is told of what its folders name and is elsewhere."""
        for folder in dict.fromkeys(folder for folders in self.folders.values() for folder in folders):
            if self._leads_out(folder):
                yield f"{self.root / folder}: a path of {PROJECT_FILE} leads out of the project's repository: not read"
            yield from map(leads_out, self._files_in(folder)[1])

    def _leads_out(self, folder: str) -> bool:
        """Whether a folder that the project names lies elsewhere than in its repository, whose projects may share."""
        root = self.root.resolve()
        repository = next((one for one in (root, *root.parents) if (one / ".git").exists()), root)
        return ".." in Path(folder).parts and not (root / folder).resolve().is_relative_to(repository)

    def _files_in(self, folder: str) -> tuple[list[Path], list[Path]]:
        """The files in a folder, and those that links lead to out of the package; one that it names itself is its."""
        if self._leads_out(folder):
            return [], []
        return files_below(self.root / folder, "*", None if ".." in Path(folder).parts else self.root)

    def macros(self) -> list[TemplateMacro]:
        return [
            macro
            for file in self.files("macro", (".sql",))
            for macro in macros_in(file_text(file), self.name, str(file))
        ]


def read_package(root: Path) -> Package:
    """The package in a folder. Raises ConfigError where its dbt_project.yml is none."""
    file = root / PROJECT_FILE
    settings = _read_mapping(file)
    if not isinstance(settings.get("name"), str):
        raise ConfigError(f"{file}: a project needs its name")
    return Package(
        name=settings["name"],
        root=root,
        folders={
            "model": _texts(settings.get("model-paths", settings.get("source-paths")), ("models",)),
            "macro": _texts(settings.get("macro-paths"), ("macros",)),
            "seed": _texts(settings.get("seed-paths", settings.get("data-paths")), ("seeds",)),
            "snapshot": _texts(settings.get("snapshot-paths"), ("snapshots",)),
        },
        variables=mapping_of(settings.get("vars")),
        configs={kind: mapping_of(settings.get(f"{kind}s")) for kind in ("model", "seed", "snapshot", "source")},
        dispatch={
            str(one.get("macro_namespace")): _texts(one.get("search_order"))
            for one in mappings_of(settings.get("dispatch"))
        },
        profile=str(settings.get("profile") or ""),
        target_path=str(settings.get("target-path") or "target"),
        packages_path=str(settings.get("packages-install-path") or settings.get("modules-path") or "dbt_packages"),
    )


def _installed_packages(project: Package) -> list[Package]:
    """What `dbt deps` installed, and the packages that lie in the project itself."""
    folders = sorted(file.parent for file in (project.root / project.packages_path).glob(f"*/{PROJECT_FILE}"))
    declared = project.root / "packages.yml"
    if declared.is_file():
        local = [str(one["local"]) for one in mappings_of(_read_mapping(declared).get("packages")) if "local" in one]
        folders += [project.root / path for path in local if (project.root / path / PROJECT_FILE).is_file()]
    found: dict[str, Package] = {}
    for folder in folders:
        package = read_package(folder)
        found.setdefault(package.name, package)
    return list(found.values())


def target_of(project: Package, dialect: str | None) -> dict[str, str]:
    """The target that dbt would run against by default: its name, type, schema and database, as far as they are told.

    A profiles.yml is read where it lies in the project, and nothing of it kept but these.
    """
    file = project.root / "profiles.yml"
    profile = mapping_of(_read_mapping(file).get(project.profile)) if file.is_file() else {}
    name = profile.get("target")
    outputs = mapping_of(profile.get("outputs"))
    name = name if isinstance(name, str) and name in outputs else next(iter(outputs), "default")
    output = {key: str(value) for key, value in mapping_of(outputs.get(name)).items() if key in _KEPT_OF_TARGET}
    schema = _plain(output.get("schema") or output.get("dataset"))
    database = _plain(output.get("database") or output.get("project") or output.get("catalog") or output.get("dbname"))
    return {
        "name": str(name),
        "target_name": str(name),
        "type": output.get("type") or dialect or "",
        "schema": schema,
        "dataset": schema,
        "database": database,
        "project": database,
        "dbname": database,
    }


def file_text(file: Path) -> str:
    """The text of a file of a project. Raises ConfigError."""
    try:
        _refuse_large(file)
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None


def _refuse_large(file: Path) -> None:
    if file.stat().st_size > _LARGEST_FILE:
        raise ConfigError(f"{file}: over {_LARGEST_FILE >> 20} MB: no file of a project is as large")


def _plain(value: str | None) -> str:
    """What a template would make of a profile belongs to the machine that dbt runs on."""
    return "" if value is None or "{{" in value else value


# The YAML files beside models: what they say of sources, versions, configs, columns and exposures.


@dataclass(frozen=True, slots=True)
class NodeProperties:
    """What a YAML file says of a model, seed or snapshot, or of one version of a model (`file` names its file)."""

    name: str
    version: str = ""
    latest: bool = True
    file: str = ""
    config: Mapping[str, Any] = field(default_factory=dict, repr=False)
    description: str = ""
    owner: str = ""
    columns: tuple[DbtColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class _PackageProperties:
    """Of a package: properties by (kind, file's stem); snapshots that are YAML alone, by name, with what they read."""

    nodes: Mapping[tuple[str, str], NodeProperties]
    sources: tuple[TemplateSource, ...]
    exposures: tuple[DbtExposure, ...]
    snapshots: Mapping[str, str]


def _read_properties(package: Package) -> _PackageProperties:
    """What all YAML files of a package say. Raises ConfigError for what is no YAML."""
    nodes: dict[tuple[str, str], NodeProperties] = {}
    sources: list[TemplateSource] = []
    exposures: list[DbtExposure] = []
    snapshots: dict[str, str] = {}
    for folder in ("model", "seed", "snapshot"):
        for file in package.files(folder, (".yml", ".yaml")):
            content = _read_mapping(file)
            for kind in ("model", "seed", "snapshot"):
                for one in mappings_of(content.get(f"{kind}s")):
                    nodes.update({(kind, found.file): found for found in _versions(one)})
            for one in mappings_of(content.get("snapshots")):
                if isinstance(one.get("relation"), str):
                    snapshots[str(one.get("name"))] = f"select * from {{{{ {one['relation']} }}}}"
            sources += [found for one in mappings_of(content.get("sources")) for found in _tables(one, package.name)]
            exposures += [_exposure(one, package.name) for one in mappings_of(content.get("exposures"))]
    return _PackageProperties(nodes, tuple(sources), tuple(exposures), snapshots)


def _versions(entry: Mapping[str, Any]) -> Iterator[NodeProperties]:
    name = str(entry.get("name"))
    config = {**mapping_of(entry.get("config"))}
    meta = {**mapping_of(entry.get("meta")), **mapping_of(config.get("meta"))}
    described = NodeProperties(
        name,
        file=name,
        config=config,
        description=str(entry.get("description") or ""),
        owner=next(iter(_texts(meta.get("owner"))), ""),
        columns=tuple(_column(column) for column in mappings_of(entry.get("columns"))),
    )
    versions = [one for one in mappings_of(entry.get("versions")) if "v" in one]
    if not versions:
        yield described
        return
    latest = str(entry.get("latest_version") or max((one["v"] for one in versions), key=_number))
    for one in versions:
        version = str(one["v"])
        file = str(one.get("defined_in") or f"{name}_v{version}")
        alias = {"alias": one["alias"]} if "alias" in one else {}
        whole = {**config, **alias, **mapping_of(one.get("config"))}
        yield replace(described, version=version, latest=version == latest, file=file, config=whole)


def _number(version: object) -> tuple[float, str]:
    text = str(version)
    return (float(text) if text.replace(".", "", 1).isdigit() else -1.0, text)


def _column(entry: Mapping[str, Any]) -> DbtColumn:
    tags = _texts(entry.get("tags")) or _texts(mapping_of(entry.get("config")).get("tags"))
    return DbtColumn(
        str(entry.get("name")), str(entry.get("description") or ""), str(entry.get("data_type") or ""), tags
    )


def _tables(entry: Mapping[str, Any], package: str) -> Iterator[TemplateSource]:
    source = str(entry.get("name"))
    database, schema = str(entry.get("database") or ""), str(entry.get("schema") or source)
    for table in mappings_of(entry.get("tables")):
        name = str(table.get("name"))
        relation_key = database, schema, str(table.get("identifier") or name)
        yield TemplateSource(f"source.{package}.{source}.{name}", package, source, name, relation_key)


def _exposure(entry: Mapping[str, Any], package: str) -> DbtExposure:
    name, owner = str(entry.get("name")), mapping_of(entry.get("owner"))
    return DbtExposure(
        unique_id=f"exposure.{package}.{name}",
        name=name,
        type=str(entry.get("type") or ""),
        depends_on=_texts(entry.get("depends_on")),
        owner=str(owner.get("name") or owner.get("email") or ""),
        url=url_without_secrets(str(entry.get("url") or "")),
        description=str(entry.get("description") or ""),
        label=str(entry.get("label") or ""),
        tags=_texts(entry.get("tags")) or _texts(mapping_of(entry.get("config")).get("tags")),
    )


# What `ref` and `source` in a YAML file mean, where no template is rendered.


def _with_unique_ids(
    exposures: Iterable[DbtExposure], nodes: Iterable[TemplateNode], sources: Iterable[TemplateSource]
) -> tuple[DbtExposure, ...]:
    """Exposures that depend on unique ids where their files say `ref('model')` and `source('source', 'table')`."""
    by_name, tables = _by_names(nodes, sources)
    return tuple(replace(one, depends_on=tuple(_ids(one.depends_on, by_name, tables))) for one in exposures)


def _by_names(
    nodes: Iterable[TemplateNode], sources: Iterable[TemplateSource]
) -> tuple[dict[str, list[TemplateNode]], dict[tuple[str, str], str]]:
    found: dict[str, list[TemplateNode]] = {}
    for node in nodes:
        found.setdefault(node.name, []).append(node)
    return found, {(source.source, source.table): source.unique_id for source in sources}


def _with_calls(files: Mapping[str, SourceFile], scope: TemplateScope) -> dict[str, SourceFile]:
    """The files, with what `ref` and `source` name in them, whether or not that is carried out."""
    by_name, tables = _by_names(scope.nodes, scope.sources)
    return {
        key: replace(one, calls=tuple(dict.fromkeys(_ids((one.text,), by_name, tables)))) for key, one in files.items()
    }


def _ids(
    references: Iterable[str], nodes: dict[str, list[TemplateNode]], tables: dict[tuple[str, str], str]
) -> Iterator[str]:
    for call, given in (match.groups() for text in references for match in _CALL.finditer(text)):
        version = _VERSION.search(given)
        names = _TEXT.findall(given[: version.start()] if version else given)
        if call == "source":
            found = tables.get((names[0], names[1])) if len(names) > 1 else None
        else:
            candidates = nodes.get(names[-1], ()) if names else ()
            wanted = (one for one in candidates if (one.version == version[1] if version else one.latest))
            found = next((one.unique_id for one in wanted), None)
        if found is not None:
            yield found


# The nodes of a project without artifacts: its files, each with the configs that hold for it.


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A node's file: its template, and for a seed the columns of its header.

    `calls` are the unique ids of what its text refers to.
    """

    node: TemplateNode
    path: str  # below the project's root
    text: str = field(default="", repr=False)
    language: str = "sql"
    columns: tuple[str, ...] = ()
    properties: NodeProperties = field(default_factory=lambda: NodeProperties(""))
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFiles:
    """Everything that a project's own files tell: what its templates see, and the files of its nodes by unique_id."""

    scope: TemplateScope
    files: Mapping[str, SourceFile]
    exposures: tuple[DbtExposure, ...] = ()
    missing_packages: bool = False
    notes: tuple[str, ...] = ()


def read_source_files(project: Package, dialect: str | None, language: str) -> SourceFiles:
    """The files of a project and of its installed packages; `language` is the dialect of its SQL.

    Raises ConfigError for YAML that is none.
    """
    packages = [project, *_installed_packages(project)]
    files: dict[str, SourceFile] = {}
    sources: list[TemplateSource] = []
    exposures: list[DbtExposure] = []
    for package in packages:
        properties = _read_properties(package)
        sources += properties.sources
        exposures += properties.exposures
        for found in _files(package, project, properties):
            files.setdefault(found.node.unique_id, found)
    declares = any((project.root / name).is_file() for name in ("packages.yml", "dependencies.yml"))
    scope = TemplateScope(
        project=project.name,
        dialect=language,
        target=target_of(project, dialect),
        variables=project.variables,
        package_variables={package.name: package.variables for package in packages},
        dispatch=project.dispatch,
        macros=tuple(macro for package in packages for macro in package.macros()),
        nodes=tuple(found.node for found in files.values()),
        sources=tuple(sources),
    )
    used = _with_unique_ids(exposures, scope.nodes, scope.sources)
    files = _with_calls(files, scope)
    outside = tuple(note for package in packages for note in package.notes_of_outside())
    return SourceFiles(scope, files, used, declares and len(packages) == 1, outside)


def _files(package: Package, project: Package, properties: _PackageProperties) -> Iterator[SourceFile]:
    for file in package.files("model", (".sql", ".py")):
        node_properties = properties.nodes.get(("model", file.stem), NodeProperties(file.stem))
        node = _node(package, project, file, "model", node_properties)
        language = "python" if file.suffix == ".py" else "sql"
        yield SourceFile(node, _below(file, project), file_text(file), language, properties=node_properties)
    for file in package.files("snapshot", (".sql",)):
        for match in _SNAPSHOT.finditer(file_text(file)):
            node_properties = properties.nodes.get(("snapshot", match[1]), NodeProperties(match[1]))
            above = "\n" * match.string.count("\n", 0, match.start(2))
            node = _node(package, project, file, "snapshot", node_properties)
            yield SourceFile(node, _below(file, project), above + match[2], properties=node_properties)
    for name, text in properties.snapshots.items():
        node_properties = properties.nodes["snapshot", name]
        file = package.root / package.folders["snapshot"][0] / f"{name}.yml"
        node = _node(package, project, file, "snapshot", node_properties)
        yield SourceFile(node, _below(file, project), text, properties=node_properties)
    for file in package.files("seed", (".csv",)):
        node_properties = properties.nodes.get(("seed", file.stem), NodeProperties(file.stem))
        node = _node(package, project, file, "seed", node_properties)
        delimiter = str(node_properties.config.get("delimiter") or ",")
        yield SourceFile(node, _below(file, project), columns=_header(file, delimiter), properties=node_properties)


def _node(package: Package, project: Package, file: Path, kind: str, node_properties: NodeProperties) -> TemplateNode:
    folder = next(
        (package.root / name for name in package.folders[kind] if file.is_relative_to(package.root / name)),
        package.root,
    )
    path = (*file.relative_to(folder).parent.parts, node_properties.file or file.stem)
    layers: list[Mapping[str, Any]] = []
    for owner in (package, project) if package is not project else (project,):
        tree = owner.configs.get(kind, {})
        layers += [_own_config(tree), *_along(mapping_of(tree.get(package.name)), path)]
    version = f".v{node_properties.version}" if node_properties.version else ""
    return TemplateNode(
        unique_id=f"{kind}.{package.name}.{node_properties.name}{version}",
        kind=kind,
        name=node_properties.name,
        package=package.name,
        version=node_properties.version,
        latest=node_properties.latest,
        layers=(*layers, node_properties.config),
        path=file.relative_to(package.root).as_posix() if file.is_relative_to(package.root) else file.as_posix(),
    )


def _along(tree: Mapping[str, Any], path: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The configs of the folders on the way to a node, from the top down."""
    yield _own_config(tree)
    for name in path:
        tree = mapping_of(tree.get(name))
        yield _own_config(tree)


def _own_config(tree: Mapping[str, Any]) -> dict[str, Any]:
    """What a folder's mapping sets for the nodes in it; its other keys are folders and nodes."""
    config = {key: value for key, value in tree.items() if key.startswith("+") or not isinstance(value, dict)}
    return {key.removeprefix("+"): value for key, value in config.items()}


def _header(file: Path, delimiter: str) -> tuple[str, ...]:
    """The columns of a seed, which may be larger than what else is read of a project: by its first line."""
    try:
        with file.open(encoding="utf-8-sig") as opened:
            lines = opened.readline(_LONGEST_HEADER).splitlines()
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None
    return tuple(next(iter(csv.reader(lines, delimiter=delimiter[:1] or ",")), ()))


def _below(file: Path, project: Package) -> str:
    return file.relative_to(project.root).as_posix() if file.is_relative_to(project.root) else str(file)
