"""What ClickHouse's own tree of a query says: of what each column is made, and which tables are read.

EXPLAIN QUERY TREE prints the query when names are resolved, an indented line a node. A column names the node that it is
a column of, by id, so that nothing is looked up by scope here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

Reference = tuple[str, str]
"""(table, column), the table with its database, as the tree spells them."""

_NODE = re.compile(
    r"(?P<indent> *)(?:(?P<kind>[A-Z][A-Z_ ]*?) ?(?:id: (?P<id>\d+)(?P<rest>.*))?|(?:SETTINGS|EXPRESSION) .*)"
)
_COLUMN = re.compile(r"column_name: (?P<name>.*), result_type: .*, source_id: (?P<source>\d+)", re.DOTALL)
_TABLE = re.compile(r"table_name: (?P<name>[^,]*)(?:, temporary_table_name: (?P<temporary>[^,]*))?")
_RELATIONS = ("TABLE", "TABLE_FUNCTION", "QUERY", "UNION", "JOIN", "CROSS JOIN", "ARRAY_JOIN")
_RECURSIVE = "is_recursive_cte: 1"
_MOST_TURNS = 4
"""Of a recursive item: no test has a chain of columns that is longer."""


@dataclass(slots=True)
class _Node:
    kind: str
    id: str | None
    rest: str
    nodes: list[_Node] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def child(self, kind: str) -> _Node | None:
        return next((each for each in self.nodes if each.kind == kind), None)

    def below(self) -> Iterator[_Node]:
        yield self
        for each in self.nodes:
            yield from each.below()


@dataclass(frozen=True, slots=True)
class TreeLineage:
    """The columns of a query in order, the tables under it, and the functions that it has for tables."""

    names: tuple[str, ...]
    columns: tuple[frozenset[Reference], ...]
    tables: frozenset[str]
    functions: frozenset[str]


def lineage_of_tree(text: str) -> TreeLineage:
    """What a printed tree says."""
    root = _tree_of(text)
    reader = _TreeReader({each.id: each for each in root.below() if each.kind in _RELATIONS and each.id is not None})
    columns = reader.columns(root)
    items = {each.rest.partition("cte_name: ")[2].partition(",")[0] for each in root.below() if _RECURSIVE in each.rest}
    matches = [_TABLE.search(each.rest) for each in root.below() if each.kind == "TABLE"]
    tables = [match["temporary"] or match["name"] for match in matches if match is not None]
    functions = [each.rest.split("table_function_name: ")[1] for each in root.below() if each.kind == "TABLE_FUNCTION"]
    return TreeLineage(
        tuple(name for name, _ in columns),
        tuple(frozenset(made_of) for _, made_of in columns),
        frozenset(tables) - items,
        frozenset(functions),
    )


def _tree_of(text: str) -> _Node:
    root, depth_of_names = _Node("", None, ""), -1
    path: list[tuple[int, _Node]] = [(-1, root)]
    for line in text.strip("\n").split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        match = _NODE.fullmatch(line)
        if depth_of_names >= 0 and indent > depth_of_names:
            path[-1][1].lines.append(line.strip())
        elif match is None:
            path[-1][1].rest += "\n" + line
        else:
            while path[-1][0] >= indent:
                path.pop()
            node = _Node(match["kind"] or "EXPRESSION", match["id"], match["rest"] or "")
            path[-1][1].nodes.append(node)
            path.append((indent, node))
            depth_of_names = indent if node.kind == "PROJECTION COLUMNS" else -1
    return root.nodes[0]


def _name_of(line: str) -> str:
    """The name in `a name Tuple(x Int32, y String)`: a type has spaces in its brackets alone."""
    depth = 0
    for place in range(len(line) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(line[place], 0)
        if line[place] == " " and not depth:
            return line[:place]
    return line


@dataclass(slots=True)
class _TreeReader:
    relations: dict[str, _Node]
    known: dict[str | None, list[tuple[str, set[Reference]]]] = field(default_factory=dict)
    recursive: list[list[tuple[str, set[Reference]]]] = field(default_factory=list)

    def columns(self, node: _Node) -> list[tuple[str, set[Reference]]]:
        """The columns of a query."""
        if node.id in self.known:
            return self.known[node.id]
        if node.kind != "UNION":
            columns = self._projected(node)
        elif _RECURSIVE in node.rest:
            columns = self._grown(node)
        else:
            columns = self._united(node)
        self.known[node.id] = columns
        return columns

    def _projected(self, node: _Node) -> list[tuple[str, set[Reference]]]:
        names, values = node.child("PROJECTION COLUMNS"), node.child("PROJECTION")
        if names is None or values is None:
            return []
        return [
            (_name_of(line), self.value(value)) for line, value in zip(names.lines, values.nodes[0].nodes, strict=True)
        ]

    def _united(self, node: _Node) -> list[tuple[str, set[Reference]]]:
        queries = node.nodes[0].nodes[0].nodes
        first, *others = [
            self.columns(each) for each in (queries[:1] if "union_mode: EXCEPT" in node.rest else queries)
        ]
        for columns in others:
            first = [(name, own | more) for (name, own), (_, more) in zip(first, columns, strict=True)]
        return first

    def _grown(self, node: _Node) -> list[tuple[str, set[Reference]]]:
        seed, *_ = node.nodes[0].nodes[0].nodes
        columns = self.columns(seed)
        for _ in range(_MOST_TURNS):
            self.recursive.append(columns)
            before = set(self.known)
            columns = self._united(node)
            self.known = {key: self.known[key] for key in before}
            self.recursive.pop()
        return columns

    def value(self, node: _Node) -> set[Reference]:
        """Of what an expression is made."""
        if node.kind == "COLUMN":
            return self._column(node)
        if node.kind in ("QUERY", "UNION"):
            return set[Reference]().union(*(made_of for _, made_of in self.columns(node)))
        return set[Reference]().union(*map(self.value, node.nodes))

    def _column(self, node: _Node) -> set[Reference]:
        match = _COLUMN.search(node.rest)
        source = self.relations.get(match["source"]) if match is not None else None
        if match is None or source is None:  # a lambda's parameter, whose arrays are arguments beside it
            return set()
        name, expression = match["name"], node.child("EXPRESSION")
        if source.kind in ("QUERY", "UNION"):
            return next((made_of for each, made_of in self.columns(source) if each == name), set())
        if source.kind == "TABLE":
            return self._of_table(source, name)
        if expression is None and source.kind != "TABLE_FUNCTION":
            named = [each for each in source.below() if each.kind == "COLUMN" and f"column_name: {name}," in each.rest]
            expression = next((each.child("EXPRESSION") for each in named if each.child("EXPRESSION")), None)
        return self.value(expression) if expression is not None else set()

    def _of_table(self, source: _Node, name: str) -> set[Reference]:
        if "temporary_table_name: " in source.rest and self.recursive:
            return next((made_of for each, made_of in self.recursive[-1] if each == name), set())
        match = _TABLE.search(source.rest)
        return {(match["temporary"] or match["name"], name)} if match is not None else set()
