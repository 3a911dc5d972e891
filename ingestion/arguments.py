"""What users give by hand: a wrong type is refused in a sentence, a wrong name with the nearest right one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

_MOST_CANDIDATES = 3
DIALECT_NAME = 'give its name, as in dialect="postgres"'

_LISTED = 12


def require_text(value: object, name: str, advice: str = "give the SQL as a str") -> None:
    """Raises TypeError, ending in `advice`, where the argument called `name` is no str."""
    if isinstance(value, str):
        return
    if isinstance(value, bytes | bytearray):
        advice = "decode it first, as in .decode('utf-8')"
    raise TypeError(f"{name} is {kind_of(value)}: {advice}")


def require_seconds(value: object, name: str) -> None:
    """Raises TypeError where the argument called `name` is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} is {kind_of(value)}: give a number of seconds")


def require_schema(value: object, name: str) -> None:
    """Raises TypeError where the argument called `name` is no {"schema.table": {"column": "type"}}."""
    form = 'give {"schema.table": {"column": "type"}}'
    if not isinstance(value, Mapping):
        raise TypeError(f"{name} is {kind_of(value)}: {form}")
    for table, columns in value.items():
        if not isinstance(table, str):
            raise TypeError(f"a table of {name} is {kind_of(table)}: {form}")
        if not isinstance(columns, Mapping):
            raise TypeError(f"{name}[{table!r}] is {kind_of(columns)}: {form}")
        for column, type_ in columns.items():
            if not isinstance(column, str) or not isinstance(type_, str):
                wrong = column if not isinstance(column, str) else type_
                raise TypeError(f"{name}[{table!r}] has {kind_of(wrong)} in it: {form}")


def kind_of(value: object) -> str:
    """What a value is, in a sentence: `None`, `a list`, `an int`; never the value itself."""
    if value is None:
        return "None"
    kind = type(value).__name__
    if kind.endswith("s"):
        return kind
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


# The right name that a wrong one was probably meant to be.


def nearest_name(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """The known name that `name` was probably meant to be; how words are joined and cased does not count."""
    plain = {_plain(candidate): candidate for candidate in known}
    close = get_close_matches(_plain(name), plain, n=1, cutoff=likeness)
    return plain[close[0]] if close else None


def nearest_file(wanted: Path) -> str:
    """`; did you mean f?` for a file of a similar name in the same directory, or nothing."""
    try:
        names = [entry.name for entry in wanted.parent.iterdir()]
    except OSError:
        return ""
    near = nearest_name(wanted.name, names, likeness=0.75)  # suffixes alone make names alike
    return f"; did you mean {wanted.with_name(near)}?" if near else ""


def files_below(folder: Path, pattern: str, within: Path | None = None) -> tuple[list[Path], list[Path]]:
    """The files of a folder by a pattern, in order, and apart from them those that links lead to out of the folder.

    `within`: out of that one, which the folder is in.

    A project may come from anywhere: what a link in it names is whatever this user may read.
    """
    root = (within or folder).resolve()
    inside: list[Path] = []
    outside: list[Path] = []
    for file in sorted(folder.rglob(pattern)):
        (inside if _real_path(file).is_relative_to(root) else outside).append(file)
    return inside, outside


def leads_out(file: Path) -> str:
    """What is told of a file that a link leads to out of its folder."""
    return f"{file}: a link leads out of the folder: not read; copy the file there, or name it itself"


def _real_path(file: Path) -> Path:
    try:
        return file.resolve()
    except (OSError, RuntimeError):  # a link to itself, which reading tells
        return file.parent.resolve() / file.name


def listing(names: Sequence[str]) -> str:
    """The first dozen of the names, for a message."""
    return ", ".join(names[:_LISTED]) + (", …" if len(names) > _LISTED else "")


def suggestion(name: str, known: Iterable[str]) -> str:
    """`; did you mean x?`, or nothing where no known name is near."""
    near = nearest_name(name, known)
    return f"; did you mean {near}?" if near else ""


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def candidates_text(names: Sequence[str]) -> str:
    """What a name may mean that several have: how many there are, and the first of them."""
    return f"may be one of {len(names)}: {', '.join(names[:_MOST_CANDIDATES])}"
