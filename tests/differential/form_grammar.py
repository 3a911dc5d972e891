"""Random statements of the forms in which engines order, merge, name and turn columns, each over three tables.

Stars over joins with USING and NATURAL, what happens to rows that are there already, PIVOT and UNPIVOT, and what meets
by name: `INSERT INTO o (p0, …) SELECT * FROM a RIGHT JOIN b USING (j, k) NATURAL JOIN c`.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from tests.differential.script_grammar import DUCKDB, MARIADB, Engine, Script

BASES = {"a": ("k", "j", "u", "v"), "b": ("k", "w", "j"), "c": ("k", "x", "u")}
TARGET = "o"
_ROWS_OF_TARGET = ("k", "v", "w", "n")
KINDS = ("star", "conflict", "turned", "by_name")


@dataclass(frozen=True)
class _Joined:
    """What stands behind FROM: its text, by which names its tables go, and how many columns a star over it has."""

    text: str
    names: dict[str, tuple[str, ...]]
    width: int
    merged: tuple[str, ...]


class FormGrammar:
    """Makes one statement of an engine, as a script of the tables that it needs and itself."""

    def __init__(self, seed: int, engine: Engine) -> None:
        self._random = Random(seed)
        self._engine = engine

    def script(self) -> Script:
        """The tables, and the statement that fills the target."""
        kinds = KINDS if self._engine is DUCKDB else KINDS[:2]
        kind = self._random.choice((*kinds, "star"))
        if kind == "conflict":
            return self._conflict(by_name=False)
        if kind == "by_name":
            return self._by_name()
        return self._turned() if kind == "turned" else self._star()

    # Stars over joins.

    def _star(self) -> Script:
        joined = self._joins()
        items, width = self._items(joined)
        columns = tuple(f"p{number}" for number in range(width))
        create = f"CREATE TABLE {TARGET} ({', '.join(f'{name} bigint' for name in columns)})"
        query = f"SELECT {items} FROM {joined.text}"
        if self._engine is not MARIADB and self._random.random() < 0.25:  # where two columns may have one name
            query = self._random.choice(
                (
                    f"SELECT q.* FROM ({query}) AS q",
                    f"WITH q AS ({query}) SELECT * FROM q",
                    f"({query}) UNION ALL ({query})",
                )
            )
        return _script((create, f"INSERT INTO {TARGET} ({', '.join(columns)}) {query}"), columns)

    def _joins(self) -> _Joined:
        tables = self._random.sample(sorted(BASES), self._random.choice((2, 2, 3)))
        first = tables[0]
        text, names, seen = first, {first: BASES[first]}, list(BASES[first])
        merged: list[str] = []
        width = len(seen)
        for table in tables[1:]:
            other = BASES[table]
            common = [name for name in other if seen.count(name) == 1]
            how = self._random.choice(self._sides())
            natural = len(common) == len(set(seen) & set(other)) and self._random.random() < 0.35
            keys = common if natural else self._random.sample(common, self._random.randint(0, len(common)))
            if "FULL JOIN" in text and how not in ("LEFT", "FULL"):
                # What a FULL JOIN alone gives a row, a join by other columns than the merged ones never lets through.
                natural = False
                keys = [name for name in common if name in merged]
                how = how if keys else "LEFT"
            hidden = how in ("SEMI", "ANTI")
            if natural:
                text += f" NATURAL {how} JOIN {table}"
            elif keys:
                text += f" {how} JOIN {table} USING ({', '.join(keys)})"
            else:
                text += f" {how} JOIN {table} ON {first}.k = {table}.k"
            if hidden:
                continue
            names[table] = other
            merged += [key for key in keys if key not in merged]
            width += len(other) - len(keys)
            seen += [name for name in other if name not in keys]
        return _Joined(text, names, width, tuple(merged))

    def _sides(self) -> tuple[str, ...]:
        sides: tuple[str, ...] = ("", "LEFT", "RIGHT", "")
        if self._engine is DUCKDB:
            sides = (*sides, "SEMI", "ANTI")
        return sides if self._engine is MARIADB else (*sides, "FULL")

    def _items(self, joined: _Joined) -> tuple[str, int]:
        table = self._random.choice(sorted(joined.names))
        own = joined.names[table]
        single = self._random.choice(own)
        choices = [
            ("*", joined.width),
            ("*", joined.width),
            (f"{table}.*", len(own)),
            (f"{table}.*, {self._one(joined)}", len(own) + 1),
            (f"{self._one(joined)}, {table}.*", len(own) + 1),
        ]
        if self._engine is DUCKDB:
            loose = [name for name in own if name not in joined.merged and _once(joined, name)]
            if loose:
                left = self._random.choice(loose)
                choices += [
                    (f"* EXCLUDE ({left})", joined.width - 1),
                    (f"* REPLACE ({left} + 1 AS {left})", joined.width),
                    (f"* RENAME ({left} AS z)", joined.width),
                ]
            if joined.merged:
                key = self._random.choice(joined.merged)
                choices.append((f"* EXCLUDE ({key})", joined.width - 1))
            choices.append((f"{table}.* EXCLUDE ({single})", len(own) - 1))
            choices.append((f"{table}.* REPLACE ({table}.{single} * 2 AS {single})", len(own)))
        return self._random.choice(choices)

    def _one(self, joined: _Joined) -> str:
        table = self._random.choice(sorted(joined.names))
        return f"{table}.{self._random.choice(joined.names[table])}"

    # Rows that are there already.

    def _conflict(self, *, by_name: bool) -> Script:
        source = self._random.choice(sorted(BASES))
        given = BASES[source][1:]
        columns = self._random.sample(_ROWS_OF_TARGET[1:], 2)
        first, second = self._random.choice(given), self._random.choice(given)
        if by_name:
            items = [f"s.{first} AS {columns[0]}", "s.k", f"s.{second} AS {columns[1]}"]
            self._random.shuffle(items)
            insert = f"INSERT INTO {TARGET} BY NAME SELECT {', '.join(items)} FROM {source} s"
        else:
            insert = (
                f"INSERT INTO {TARGET} ({columns[0]}, k, {columns[1]}) "
                f"SELECT s.{first}, s.k, s.{second} FROM {source} s{'' if self._engine is MARIADB else ' WHERE true'}"
            )
        create = f"CREATE TABLE {TARGET} (k bigint PRIMARY KEY, v bigint, w bigint, n bigint)"
        incoming = tuple(columns) if by_name else _ROWS_OF_TARGET[1:]
        action = self._duplicate(given) if self._engine is MARIADB else self._action(incoming)
        bases = {**BASES, TARGET: _ROWS_OF_TARGET}
        return Script((*_creates(), create, f"{insert} {action}"), bases, {TARGET: _ROWS_OF_TARGET}, frozenset(), ())

    def _action(self, incoming: tuple[str, ...]) -> str:
        changed = self._random.sample(_ROWS_OF_TARGET[1:], self._random.choice((1, 2)))
        values = [self._value(f"excluded.{self._random.choice(incoming)}") for _ in changed]
        if len(changed) == 2 and self._random.random() < 0.3:
            changes = f"({', '.join(changed)}) = ({', '.join(values)})" if self._engine is not DUCKDB else ""
        else:
            changes = ""
        changes = changes or ", ".join(f"{name} = {value}" for name, value in zip(changed, values, strict=True))
        condition = f" WHERE {self._there()} > 2" if self._random.random() < 0.3 else ""
        return f"ON CONFLICT (k) DO UPDATE SET {changes}{condition}"

    def _value(self, incoming: str) -> str:
        there = self._there()
        return self._random.choice([incoming, there, f"COALESCE({incoming}, 0) + COALESCE({there}, 0)"])

    def _there(self) -> str:
        return f"{TARGET}.{self._random.choice(_ROWS_OF_TARGET[1:])}"

    def _duplicate(self, given: tuple[str, ...]) -> str:
        name = self._random.choice(_ROWS_OF_TARGET[1:])
        other = self._random.choice(_ROWS_OF_TARGET[1:])
        value = self._random.choice([f"VALUES({other})", f"s.{self._random.choice(given)}", f"{TARGET}.{other}"])
        return f"ON DUPLICATE KEY UPDATE {name} = {value}"

    # Columns that become rows, and rows that become columns.

    def _turned(self) -> Script:
        table = self._random.choice(sorted(BASES))
        columns = BASES[table]
        turned = self._random.sample(columns[1:], 2)
        kept = [name for name in columns if name not in turned]
        value = self._random.choice([name for name in columns[1:] if name != turned[0]])
        group = self._random.choice([name for name in columns if name not in (turned[0], value)])
        rest = [name for name in columns if name not in (turned[0], value)]
        rows, width = self._random.choice(
            [
                (f"(UNPIVOT {table} ON {', '.join(turned)} INTO NAME m VALUE q)", len(kept) + 2),
                (f"{table} UNPIVOT (q FOR m IN ({', '.join(turned)}))", len(kept) + 2),
                (f"{table} UNPIVOT INCLUDE NULLS (q FOR m IN ({', '.join(turned)}))", len(kept) + 2),
                (f"(UNPIVOT {table} ON COLUMNS(* EXCLUDE ({', '.join(kept)})) INTO NAME m VALUE q)", len(kept) + 2),
                (f"(PIVOT {table} ON {turned[0]} IN (1, 2) USING sum({value}) GROUP BY {group})", 3),
                (f"(PIVOT {table} ON {turned[0]} IN (1, 2) USING max({value}))", len(rest) + 2),
                (f"{table} PIVOT (sum({value}) FOR {turned[0]} IN (1, 2))", len(rest) + 2),
                (f"{table} PIVOT (sum({value}) AS t, min({value}) AS l FOR {turned[0]} IN (1, 2))", len(rest) + 4),
            ]
        )
        made = tuple(f"p{number}" for number in range(width))
        create = f"CREATE TABLE {TARGET} AS SELECT * FROM (SELECT * FROM {rows}) AS q({', '.join(made)})"
        return _script((create,), made)

    # Columns that meet by name.

    def _by_name(self) -> Script:
        if self._random.random() < 0.4:
            return self._conflict(by_name=True)
        first, second = self._random.sample(sorted(BASES), 2)
        if self._random.random() < 0.5:
            items = [f"{first}.{name} AS {name}" for name in BASES[first]]
            self._random.shuffle(items)
            columns = tuple(self._random.sample(BASES[first], len(BASES[first])))
            create = f"CREATE TABLE {TARGET} ({', '.join(f'{name} bigint' for name in columns)})"
            return _script((create, f"INSERT INTO {TARGET} BY NAME SELECT {', '.join(items)} FROM {first}"), columns)
        columns = tuple(dict.fromkeys((*BASES[first], *BASES[second])))
        union = self._random.choice(("UNION", "UNION ALL"))
        query = f"SELECT * FROM {first} {union} BY NAME SELECT * FROM {second}"
        return _script((f"CREATE TABLE {TARGET} AS {query}",), columns)


def _once(joined: _Joined, name: str) -> bool:
    return sum(name in columns for columns in joined.names.values()) == 1


def _creates() -> tuple[str, ...]:
    return tuple(
        f"CREATE TABLE {table} ({', '.join(f'{name} bigint' for name in columns)})" for table, columns in BASES.items()
    )


def _script(statements: tuple[str, ...], columns: tuple[str, ...]) -> Script:
    return Script((*_creates(), *statements), dict(BASES), {TARGET: columns}, frozenset(), ())
