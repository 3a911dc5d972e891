"""The plan descriptions of Spark's event log as trees: the formatted form and the one-line (extended) form.

Spark prints a plan as an indented tree. The formatted form numbers its nodes and lists each node's details below the
tree; the extended form has a node and its arguments on one line, once per phase (parsed, analyzed, optimized,
physical). Children stand three columns right of their parent; plans that are not children (a subquery's plan, the query
of a command, a cached plan) stand six columns right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

_SECTION = re.compile(r"^== ((?:Parsed|Analyzed|Optimized) Logical|Physical) Plan ==$", re.MULTILINE)
PREFIX = re.compile(r"^(?:[: ]  )*[:+]- ")
"""What draws the tree: `:  +- ` stands before the last child of a first child."""
_NODE_START = re.compile(r"['~]?[A-Z]\w*(?:[ (\[]|$)", re.MULTILINE)
FORMATTED = re.compile(r" \(\d+\)(?:, .*)?$")
_NUMBERED = re.compile(r"^(.*?) \((\d+)\)(?:, [^()]*)?$", re.DOTALL)
_CODEGEN = re.compile(r"^(?:\*(?:\(\d+\))? ?|~)")
"""What stands before the name of a node that is compiled, and of one that is part of a stream."""

_SUBQUERY_HEAD = re.compile(r"^Subquery:\d+ Hosting operator id = \d+ Hosting Expression = (.*)$", re.MULTILINE)
"""Formatted plans print subqueries below the tree, each under such a line."""
_SUBQUERY_ID = re.compile(r"(?:subquery|dynamicpruning|scalar-subquery)#(\d+)")
DETAIL = re.compile(r"^\((\d+)\) (.*)$")
"""`(3) Filter`: what the formatted form says of node 3 stands below it."""
_FIELD = re.compile(
    r"^(Output|Input|Arguments|Condition|Keys|Functions|Aggregate Attributes|Results|Left keys|Right keys|Join type|"
    r"Join condition|Left output|Right output|Batched|Location|PushedFilters|PartitionFilters|DataFilters|ReadSchema|"
    r"External engine query|Output Column Families|RuntimeFilters|RequiredDataFilters|DictionaryFilters|"
    r"PushedAggregation|PushedGroupBy|Result|Commands|"
    r"SubPlan|PushedVariants|PushedSample|PushedLimit|PushedTopN|PushedOffset)(?: \[(\d+)\])? ?:(?: (.*))?$"
)

_ONE_LINE = re.compile(
    r"^('?(?:Execute )?[A-Z][\w$]*(?: (?:All|parquet|orc|csv|json|text|avro|hive|In-memory table \S+))?)(?=[\s(\[,]|$)"
)

_VENDORS = re.compile(r"^(?:Gpu|Photon)(?=[A-Z])")
"""What accelerators put before the names of Spark's own operators, which they replace one by one."""


@dataclass(slots=True)
class PlanNode:
    """One node: `name` as printed, `args` the argument text, `fields` the details of a formatted physical node.

    `counts` has the number that Spark prints after a field's name, the length of its list. `inner` holds plans that are
    printed below a node without being its children.
    """

    name: str
    args: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    children: list[PlanNode] = field(default_factory=list)
    inner: list[PlanNode] = field(default_factory=list)
    number: int | None = None

    def walk(self) -> Iterable[PlanNode]:
        """This node and all below it, outermost first."""
        pending = [self]
        while pending:
            node = pending.pop()
            yield node
            pending.extend(reversed([*node.inner, *node.children]))


@dataclass(frozen=True, slots=True)
class PlanText:
    """A parsed description: the physical tree (or a command's), and the analyzed tree where the text has one.

    `subqueries` maps the id of a physical subquery to its plan.
    """

    physical: PlanNode | None
    analyzed: PlanNode | None = None
    subqueries: dict[int, PlanNode] = field(default_factory=dict)


def parse_plan_text(text: str) -> PlanText:
    """The trees of a `physicalPlanDescription` or of a Thrift operation's plan.

    Text that is no plan gives a PlanText without trees: nothing is raised for what a later Spark may print.
    """
    sections = _split_sections(text)
    physical_text = sections.get("Physical", "")
    if "Analyzed Logical" in sections:
        return PlanText(_one_line_tree(physical_text), _one_line_tree(_without_schema(sections["Analyzed Logical"])))
    head = physical_text.lstrip("\n").split("\n\n", 1)[0]
    if not any(FORMATTED.search(line) for line in head.split("\n")):
        return PlanText(_one_line_tree(physical_text))
    return _formatted_plan(physical_text)


def _split_sections(text: str) -> dict[str, str]:
    """The text of each phase by its name, without the heading."""
    found = list(_SECTION.finditer(text))
    ends = [match.start() for match in found[1:]] + [len(text)]
    return {match.group(1): text[match.end() + 1 : end] for match, end in zip(found, ends, strict=False)}


def _without_schema(section: str) -> str:
    """An analyzed plan without the line of output columns that precedes the tree of a query."""
    first, _, rest = section.partition("\n")
    if not first.strip():
        return rest
    is_tree = PREFIX.match(rest) is not None or _NODE_START.match(rest) is None
    return section if is_tree or ": " not in first else rest


# The tree.


def _logical_lines(section: str) -> list[tuple[int, str]]:
    """The tree's nodes as (indentation, text); a literal's line breaks are put back into its node's text."""
    nodes: list[tuple[int, str]] = []
    lines = section.split("\n")
    inside = _literal_lines(lines, lambda line: PREFIX.match(line) is not None)
    for number, line in enumerate(lines):
        prefix = PREFIX.match(line) if number not in inside else None
        if prefix:
            nodes.append((prefix.end(), line[prefix.end() :]))
        elif not nodes:
            if line.strip():
                nodes.append((0, line))
        else:
            indent, before = nodes[-1]
            nodes[-1] = (indent, f"{before}\n{line}")
    return [(indent, text.rstrip("\n")) for indent, text in nodes]


def _literal_lines(lines: Sequence[str], begins: Callable[[str], bool]) -> set[int]:
    """The lines that look like the beginning of something and stand in a bracket that an earlier one opened.

    Plans print literals raw: one with a line break may have a line like any of the plan's. A bracket that nothing
    closes was itself a literal's or a name's, as is one in a line that ends with a bracket.
    """
    depths = list(accumulate((_brackets(line) for line in lines), initial=0))
    ends: dict[int, int] = {}  # where the brackets that a line opens are closed: the first line that is as deep
    waiting: list[int] = []
    for index, depth in enumerate(depths):
        while waiting and depths[waiting[-1]] >= depth:
            ends[waiting.pop()] = index
        waiting.append(index)
    found: set[int] = set()
    end = 0
    for number, line in enumerate(lines):
        if number < end:
            found.add(number)
        elif (number == 0 or begins(line)) and not line.endswith(("]", ")")):
            end = ends.get(number, 0)
    return found


def _brackets(line: str) -> int:
    """How many more brackets a line opens than it closes."""
    return sum(line.count(opening) for opening in "([{") - sum(line.count(closing) for closing in ")]}")


def _build(nodes: list[tuple[int, PlanNode]]) -> PlanNode | None:
    """Nest nodes by their indentation: three columns a child, more an inner plan."""
    if not nodes:
        return None
    open_nodes: list[tuple[int, PlanNode]] = []
    for indent, node in nodes:
        while open_nodes and open_nodes[-1][0] >= indent:
            open_nodes.pop()
        if open_nodes:
            above, parent = open_nodes[-1]
            (parent.children if indent - above <= 3 else parent.inner).append(node)
        elif node is not nodes[0][1]:
            continue
        open_nodes.append((indent, node))
    return nodes[0][1]


def _one_line_node(text: str) -> PlanNode:
    text = _CODEGEN.sub("", text)
    match = _ONE_LINE.match(text)
    if match is None:
        return PlanNode(text.split(" ", 1)[0], text.partition(" ")[2])
    name = match.group(1)
    return PlanNode(name, text[match.end() :].strip())


def _one_line_tree(section: str) -> PlanNode | None:
    """The tree of a one-line plan; of an adaptive plan's two trees, the initial one."""
    return _build([(indent, _one_line_node(text)) for indent, text in _logical_lines(_initial_only(section))])


def _initial_only(section: str) -> str:
    """An adaptive plan's text with its initial tree only: the final one folds what turned out to be empty."""
    if "== Initial Plan ==" not in section:
        return section
    kept: list[str] = []
    dropping = False
    connector: str | None = None
    for line in section.split("\n"):
        marker = line.strip(" :+-")
        if marker in ("== Final Plan ==", "== Current Plan =="):
            dropping = True
        elif marker == "== Initial Plan ==":
            dropping, connector = False, line[: line.index("==")]
        elif connector is not None:
            kept.append(connector + line[len(connector) :])  # the tree's root stands below the heading, unconnected
            connector = None
        elif not line.strip() or not dropping:
            dropping = False
            kept.append(line)
    return "\n".join(kept)


# The formatted form.


def _formatted_plan(section: str) -> PlanText:
    section = _initial_only(section)
    main, *_ = section.split("\n===== Subqueries =====\n", 1)
    numbered: dict[int, PlanNode] = {}
    root = _formatted_tree(main, numbered)
    subqueries: dict[int, PlanNode] = {}
    rest = section[len(main) :]
    heads = list(_SUBQUERY_HEAD.finditer(rest))
    ends = [head.start() for head in heads[1:]] + [len(rest)]
    for head, end in zip(heads, ends, strict=False):
        tree = _formatted_tree(rest[head.end() : end], numbered)
        found = _SUBQUERY_ID.search(head.group(1))
        if tree is not None and found:
            subqueries.setdefault(int(found.group(1)), tree)
    return PlanText(root, None, subqueries)


def _formatted_tree(block: str, numbered: dict[int, PlanNode]) -> PlanNode | None:
    """One tree with its details; `numbered` collects the nodes, which subqueries of the same text share."""
    tree_text, _, details = block.lstrip("\n").partition("\n\n\n")
    nodes: list[tuple[int, PlanNode]] = []
    for indent, text in _logical_lines(tree_text):
        match = _NUMBERED.match(_CODEGEN.sub("", text).lstrip("* "))
        name, number = (match.group(1), int(match.group(2))) if match else (text, None)
        node = PlanNode(name, number=number)
        if number is not None:
            numbered[number] = node
        nodes.append((indent, node))
    root = _build(nodes)
    _read_details(details, numbered)
    return root


def _read_details(details: str, numbered: dict[int, PlanNode]) -> None:
    """Put the details' fields into their nodes. A line that starts no field continues the one before (a literal's).

    Arguments come last: a catalog table printed in them has lines that look like fields.
    """
    node: PlanNode | None = None
    key = ""
    blank_before = True
    lines = details.split("\n")
    inside = _literal_lines(lines, lambda line: _FIELD.match(line) is not None)
    for number, line in enumerate(lines):
        if number in inside:
            if node is not None and key:
                node.fields[key] += "\n" + line
            continue
        head = DETAIL.match(line) if blank_before else None
        if head and (found := numbered.get(int(head.group(1)))) is not None and _same_node(found.name, head.group(2)):
            node, key = found, ""
        elif node is not None:
            match = _FIELD.match(line) if key != "Arguments" else None
            if match and match.group(1) not in node.fields:
                key = match.group(1)
                node.fields[key] = match.group(3) or ""
                if match.group(2):
                    node.counts[key] = int(match.group(2))
            elif key in ("Output", "Input") and node.fields[key].endswith("]") and line.strip():
                node.fields["Description"] = line
            elif key:
                node.fields[key] += "\n" + line
        blank_before = not line.strip()
    for found in numbered.values():
        for name, value in found.fields.items():
            found.fields[name] = value.rstrip("\n")
        found.args = found.fields.get("Arguments", "")


def _same_node(name: str, heading: str) -> bool:
    """Whether a detail's heading is that of the node, whose tree line may carry more (a join's type and side)."""
    heading = heading.split(" [codegen id", 1)[0].strip()
    return name.strip().startswith(heading) or heading.startswith(name.strip())


def kind_of(node: PlanNode) -> str:
    """A node's kind: its first word, two for set operations of ALL; an accelerator's is that of what it replaces."""
    name = _VENDORS.sub("", node.name.lstrip("'"))
    words = name.split(" ")
    if words[0] in ("Intersect", "Except") and len(words) > 1 and words[1] == "All":
        return words[0] + " All"
    if words[0] == "Execute" and len(words) > 1:
        return "Execute " + _VENDORS.sub("", words[1])
    return words[0]
