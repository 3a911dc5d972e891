"""A project and its packages: dbt_project.yml, and what it says of folders, variables and configs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.dbt.project.yaml_files import mappings, read_mapping, texts
from connectors.dbt.rendering.macros import macros_in
from connectors.dbt.rendering.scope import TemplateMacro
from connectors.dbt.target.json_stream import mapping_of
from ingestion.errors import ConfigError

PROJECT_FILE = "dbt_project.yml"
_KEPT_OF_TARGET = ("type", "schema", "dataset", "database", "project", "dbname", "catalog")
"""Of a profile. What else stands there may be a secret."""


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
            found = (self.root / folder).rglob("*")
            yield from sorted(file for file in found if file.suffix in suffixes and file.is_file())

    def macros(self) -> list[TemplateMacro]:
        return [
            macro for file in self.files("macro", (".sql",)) for macro in macros_in(text_of(file), self.name, str(file))
        ]


def read_package(root: Path) -> Package:
    """The package in a folder. Raises ConfigError where its dbt_project.yml is none."""
    file = root / PROJECT_FILE
    settings = read_mapping(file)
    if not isinstance(settings.get("name"), str):
        raise ConfigError(f"{file}: a project needs its name")
    return Package(
        name=settings["name"],
        root=root,
        folders={
            "model": texts(settings.get("model-paths", settings.get("source-paths")), ("models",)),
            "macro": texts(settings.get("macro-paths"), ("macros",)),
            "seed": texts(settings.get("seed-paths", settings.get("data-paths")), ("seeds",)),
            "snapshot": texts(settings.get("snapshot-paths"), ("snapshots",)),
        },
        variables=mapping_of(settings.get("vars")),
        configs={kind: mapping_of(settings.get(f"{kind}s")) for kind in ("model", "seed", "snapshot", "source")},
        dispatch={
            str(one.get("macro_namespace")): texts(one.get("search_order"))
            for one in mappings(settings.get("dispatch"))
        },
        profile=str(settings.get("profile") or ""),
        target_path=str(settings.get("target-path") or "target"),
        packages_path=str(settings.get("packages-install-path") or settings.get("modules-path") or "dbt_packages"),
    )


def installed_packages(project: Package) -> list[Package]:
    """What `dbt deps` installed, and the packages that lie in the project itself."""
    folders = sorted(file.parent for file in (project.root / project.packages_path).glob(f"*/{PROJECT_FILE}"))
    declared = project.root / "packages.yml"
    if declared.is_file():
        local = [str(one["local"]) for one in mappings(read_mapping(declared).get("packages")) if "local" in one]
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
    profile = mapping_of(read_mapping(file).get(project.profile)) if file.is_file() else {}
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


def text_of(file: Path) -> str:
    """The text of a file of a project. Raises ConfigError."""
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise ConfigError(f"{file}: not UTF-8 text") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read ({error.strerror})") from None


def _plain(value: str | None) -> str:
    """What a template would make of a profile belongs to the machine that dbt runs on."""
    return "" if value is None or "{{" in value else value
