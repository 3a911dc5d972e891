"""Asks two catalogs thirty questions with known answers, by the protocol's own client over standard input.

Run: `python -m tests.hunts.thirty_questions` in the tree to ask (of another tree: there, by the path of this file, with
that tree as PYTHONPATH). The one catalog is the README's sample, which `ingest run` makes; the other a made one of some
280 tables, which is told of over HTTP too: what a tree has no call for, it is not told of.

Each question has the calls that somebody who read the tools would make, as few as do, and what the answers have to say;
while that is not all there, the last call goes on by its cursor. Prints per question calls, characters and tokens (a
quarter of the characters), and ends with 1 if one is not answered, takes more than three calls or over 2,000 tokens.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import requests
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.support import http_client
from tests.support.made_catalog import MadeCatalog

MOST_CALLS, MOST_TOKENS, MOST_PAGES = 3, 2_000, 12
NOW = int(time.time() * 1000)
HOUR, DAY = 3_600_000, 86_400_000
YESTERDAY = datetime.fromtimestamp((NOW - DAY) / 1000, UTC).isoformat(timespec="seconds")
HOME = "lake.main"
Call = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the calls that answer it, and patterns of what has to be told, and of what must not be."""

    text: str
    calls: tuple[Call, ...]
    told: tuple[str, ...]
    never: str = ""


@dataclass(slots=True)
class Outcome:
    """What the calls of a question came to."""

    calls: int = 0
    characters: int = 0
    text: str = ""
    missing: str = ""

    @property
    def tokens(self) -> int:
        """By the usual rule of thumb."""
        return self.characters // 4

    @property
    def kept(self) -> bool:
        """Whether it is answered, and cheaply."""
        return not self.missing and self.calls <= MOST_CALLS and self.tokens <= MOST_TOKENS


def one(tool: str, **arguments: Any) -> tuple[Call, ...]:
    """The calls of a question that one tool answers."""
    return ((tool, arguments),)


# Of the sample.

SAMPLE = (
    Question("Where does mart.info.wpage come from?", one("explain", column="mart.info.wpage"), (r"web\.page",)),
    Question(
        "How is mart.daily_sales.gross computed, and of what?",
        one("lineage", name="mart.daily_sales.gross"),
        (r"gross <- \S*orders\.total", r'"SUM\('),
    ),
    Question(
        "What breaks if I drop shop.web.page?",
        one("proposed_change", text="ALTER TABLE shop.web DROP COLUMN page"),
        (r"breaks \S*webinfo\.wpage", r"breaks \S*webact\.wpage", r"breaks \S*info\.wpage"),
    ),
    Question(
        "Which tables are filled from shop.payments directly?",
        one("describe", name="shop.payments"),
        (r"downstream \S*payment_mix", r"downstream \S*fees", r"downstream \S*late_payments", r"\S*card_payments"),
    ),
    Question(
        "How does customers.email get to mart.customer_dim.mail?",
        one("paths", source="shop.customers.email", target="mart.customer_dim.mail"),
        (r"1 hops? of values", r'"LOWER\('),
    ),
    Question(
        "Are all names in SELECT o.totl FROM shop.ordrs o known?",
        one("parse_sql", text="SELECT o.totl FROM shop.ordrs o", dialect="postgres"),
        (r"did you mean shop\.orders",),
    ),
    Question(
        "Does INSERT … SELECT … FROM mart.contacts read customers' addresses?",
        (
            ("parse_sql", {"text": "INSERT INTO mart.m SELECT email FROM mart.contacts", "dialect": "postgres"}),
            ("explain", {"column": "mart.contacts.email"}),
        ),
        (r"reads \S*contacts", r"customers\.email"),
    ),
    Question(
        "Which statement failed in the last run, and where is it in the log?",
        one("runs", run="latest"),
        (r"query_log\.csv:\d+", r"ill_formed: "),
    ),
    Question("What did the last run skip, and why?", one("runs"), (r"skipped 28 \(", r"transaction \d", r"grant \d")),
    Question(
        "Of how many tables is the source known, and why not of the others?",
        one("coverage"),
        (r"source known of \d+ tables: \d+ by columns", r"not_written"),
    ),
    Question(
        "Which columns has mart.customer_dim?", one("describe", name="mart.customer_dim"), (r"lifetime_value decimal",)
    ),
    Question(
        "What is mart.active_customers made of by its present definition?",
        one("lineage", name="mart.active_customers"),
        (r"last_seen <- \S*orders\.ordered_at", r"spent <- \S*orders\.total"),
        r"web\.date",
    ),
    Question(
        "Where do the tokens of cards end up, and are they masked?",
        one("lineage", name="shop.payments.card_token", direction="downstream", depth=0, direct=True),
        (r"card_payments\.card <- \S*payments\.card_token \[[^]]*masked",),
    ),
    Question(
        "What does mart.product_margin.margin really hold?",
        one("lineage", name="mart.product_margin.margin"),
        (r"margin <- \S*products\.price",),
    ),
    Question(
        "May I rename shop.orders.total: what depends on it?",
        one("impact", name="shop.orders.total"),
        (r"store_turnover", r"daily_sales", r"monthly_sales", r"late_payments", r"store_report", r"customer_dim"),
    ),
)

# Of the made one.

LAKE = (
    Question("Who owns mart.newsletter?", one("describe", name="mart.newsletter"), (r"owners: \"growth\"",)),
    Question("What does the team finance own?", one("search", words="owner:finance"), (r"mart\.board_report",)),
    Question(
        "Which tables are late?", one("freshness"), (r"^[^\n]*2 late", r"core\.revenue late", r"board_report late")
    ),
    Question(
        "When was mart.newsletter written last, and by what?",
        one("freshness", name="mart.newsletter"),
        (r"last written 2\S+ \S+", r"growth\.newsletter"),
    ),
    Question("What is tagged PII?", one("search", words="tag:PII"), (r"crm_contacts",)),
    Question(
        "Which tables get values of what is tagged PII, and where are they not masked?",
        (
            ("search", {"words": "tag:PII"}),
            ("lineage", {"name": "raw.crm_contacts.email", "direction": "downstream", "depth": 0, "direct": True}),
        ),
        (
            r"column \S*crm_contacts\.email",
            r"email_hash <- \S*contacts\.email \[[^]]*masked",
            r"newsletter\.email <- \S*contacts\.email \[identity",
        ),
    ),
    Question("What does nobody read?", one("unused_report", days=30), (r"table \S*mart\.abandoned",)),
    Question(
        "What changed since yesterday, and did it break anything?",
        one("changes", start=YESTERDAY),
        (r"crm_contacts\.phone", r"mart\.churn", r"1 break something"),
    ),
    Question("Where do witnesses disagree?", one("witnesses"), (r"core\.revenue\.revenue <- ", r"engine")),
    Question(
        "How does raw.payments.amount get to mart.board_report.revenue?",
        one("paths", source="raw.payments.amount", target="mart.board_report.revenue"),
        (r"3 hops of values", r"stage\.payments\.amount", r"core\.revenue\.revenue"),
    ),
    Question(
        "Does anything of the CRM get to the board's report?",
        one("paths", source="raw.crm_contacts", target="mart.board_report"),
        (r"no way is known",),
    ),
    Question(
        "How many tables hang on core.customer.customer_id, and how many of them are finance's?",
        one("impact", name="core.customer.customer_id"),
        (r"260 tables", r'"finance" 129'),
    ),
    Question(
        "Does a test fail upstream of mart.board_report?",
        one("quality", name="mart.board_report"),
        (r"has_amount\D+payments\.amount: failed, 12 rows", r"1 do not pass"),
    ),
    Question(
        "Why is mart.board_report wrong?",
        one("why", name="mart.board_report"),
        (r"1\. \S*core\.revenue|1\. \S*payments", r"failed"),
    ),
    Question(
        "Why is the source of core.refunds not known?",
        one("coverage", name="core.refunds"),
        (r"night\.log:4711", r"unparsable"),
    ),
)

# Asking.


async def ask(client: Client, question: Question, tools: set[str]) -> Outcome:
    """The calls of a question, then further pages of the last one until all is told or there are no more."""
    outcome = Outcome()
    result: Any = None
    for tool, arguments in question.calls:
        if tool not in tools:
            outcome.missing = f"no tool {tool}"
            return outcome
        result = await _call(client, (tool, arguments), outcome)
    tool, arguments = question.calls[-1]
    for _ in range(MOST_PAGES):
        cursor = (result.structured_content or {}).get("cursor")
        if _missing(question, outcome.text) == "" or not cursor:
            break
        result = await _call(client, (tool, {**arguments, "cursor": cursor}), outcome)
    outcome.missing = _missing(question, outcome.text)
    return outcome


async def _call(client: Client, call: Call, outcome: Outcome) -> Any:
    result = await client.call_tool(*call)
    text = "".join(block.text for block in result.content if block.type == "text")
    outcome.calls += 1
    outcome.characters += len(text)
    outcome.text += f"{text}\n"
    return result


def _missing(question: Question, text: str) -> str:
    absent = [pattern for pattern in question.told if not re.search(pattern, text)]
    if question.never and re.search(question.never, text):
        absent.append(f"told all the same: {question.never}")
    return "; ".join(absent)


async def asked(catalog: Path, questions: Sequence[Question], *, show: str) -> list[Outcome]:
    """The outcome of each question to one catalog."""
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    arguments = ["-m", "workflows", "mcp", "--catalog", str(catalog)]
    parameters = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    outcomes = []
    async with Client(stdio_client(parameters)) as client:
        tools = (await client.list_tools()).tools
        sizes = sum(len(tool.model_dump_json(by_alias=True, exclude_none=True)) for tool in tools)
        print(f"{catalog.parent.name}: {len(tools)} tools of {sizes:,} characters")
        for question in questions:
            outcome = await ask(client, question, {tool.name for tool in tools})
            outcomes.append(outcome)
            result = outcome.missing and f"NOT ANSWERED: {outcome.missing}"
            sizes_text = f"{outcome.calls:>2} calls {outcome.characters:>6,} characters {outcome.tokens:>5,} tokens"
            print(f"  {sizes_text}  {question.text}  {result}")
            if show and show in question.text:
                print(outcome.text)
    return outcomes


# The catalogs.


def sample_catalog(folder: Path) -> Path:
    """The catalog of the README's sample, by a run of the tree's own."""
    folder.mkdir(parents=True)
    shutil.copytree("config", folder / "config")
    command = [sys.executable, "-m", "workflows", "run", "-c", "config/lineage.yaml"]
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    (folder / ".headwater" / "catalog.db").rename(folder / "catalog.db")
    return folder / "catalog.db"


TABLES = {
    "raw.crm_contacts": "contact_id email phone city updated_at",
    "raw.payments": "payment_id contact_id amount state paid_at",
    "raw.refunds": "refund_id payment_id amount",
    "stage.contacts": "contact_id email phone city",
    "stage.payments": "payment_id contact_id amount day",
    "core.customer": "customer_id email_hash city",
    "core.revenue": "day customer_id revenue",
    "core.refunds": "refund_id amount",
    "mart.customer_by_city": "city customers",
    "mart.abandoned": "month revenue",
}
OWNED = {"mart.newsletter": ("email city", "growth"), "mart.board_report": ("month revenue", "finance")}
MANY = 258
WIDE = [f"measure_{number:03}" for number in range(120)]
OWNER_IDS = {
    name: f"0b9c5d1e-7a53-4a41-9d0e-0d6b1a2c3d4{number}" for number, name in enumerate(("growth", "finance"), 1)
}


def lake_catalog(folder: Path) -> Path:
    """The made catalog: tables and edges by its store, the rest by calls to the tree's own server."""
    folder.mkdir(parents=True)
    made = MadeCatalog(folder / "catalog.db")
    long_ago = NOW - 60 * DAY
    made.add_tables({f"{HOME}.{name}": columns.split() for name, columns in TABLES.items()}, at=long_ago)
    for name, (columns, owner) in OWNED.items():
        made.add_tables({f"{HOME}.{name}": columns.split()}, at=long_ago, owners=[_owner(owner)])
    made.add_tables({f"{HOME}.stage.wide": WIDE, f"{HOME}.mart.wide": WIDE}, at=long_ago)
    filler = [f"bulk.filler_{number:03}" for number in range(MANY)]
    for number, name in enumerate(filler):
        owner = ("growth", "finance")[number % 2]
        made.add_tables({f"{HOME}.{name}": ("id", "value")}, at=long_ago, owners=[_owner(owner)])
    for day, edges in _nights(filler):
        made.add_edges(edges, at=NOW - day * DAY - 2 * HOUR)
    made.add_tables({f"{HOME}.mart.churn": ("customer_id", "score")}, at=NOW - HOUR)
    made.add_edges([flow("core.customer", "mart.churn", "customer_id>customer_id")], at=NOW - HOUR)
    made.close()
    with served(made.file) as client:
        _tell(client, {name: _id_of(client, name) for name in (*TABLES, *OWNED, *filler)})
    return made.file


def _id_of(client: http_client.Client, table: str) -> str:
    return str(client.get(f"/tables/name/{HOME}.{table}")[1]["id"])


def _owner(name: str) -> dict[str, str]:
    return {"id": OWNER_IDS[name], "type": "team", "name": name}


def flow(source: str, target: str, *pairs: str, **more: Any) -> tuple[str, str, dict[str, Any]]:
    """An edge whose columns flow by `a>b`, `a>b=expression` for what is computed; masked where that hashes."""
    columns = []
    for pair in pairs:
        ends, _, expression = pair.partition("=")
        start, end = ends.split(">")
        column = {"from": [f"{HOME}.{source}.{start}"], "to": f"{HOME}.{target}.{end}", "type": "DIRECT"}
        subtype = ("AGGREGATION" if "SUM" in expression else "TRANSFORMATION") if expression else "IDENTITY"
        columns.append({**column, "subtype": subtype, "expression": expression, "masking": "MD5" in expression})
    text = f"INSERT INTO {target} SELECT {', '.join(pair.partition('>')[0] for pair in pairs)} FROM {source}"
    says = {"producer": {"kind": "query", "key": f"{source} {target}"}, "sqlQuery": text, "columns": columns, **more}
    return f"{HOME}.{source}", f"{HOME}.{target}", says


def _nights(filler: Sequence[str]) -> Iterator[tuple[int, list[tuple[str, str, dict[str, Any]]]]]:
    """What is written so many days ago: each night the marts, the revenue but for the last four."""
    once = [
        flow("core.customer", filler[0], "customer_id>id"),
        *(flow(filler[(n - 1) // 2], filler[n], "id>id", "value>value") for n in range(1, MANY)),
        flow("stage.wide", "mart.wide", *(f"{name}>{name}" for name in WIDE)),
        flow("core.revenue", "mart.abandoned", "revenue>revenue=SUM(core.revenue.revenue)"),
        flow("raw.payments", "stage.payments", "payment_id>payment_id", "contact_id>contact_id", "amount>amount"),
    ]
    yield 1, once
    revenue = [
        flow(
            "stage.payments",
            "core.revenue",
            "payment_id>revenue",
            producer={"kind": "engine", "key": "unity"},
            sqlQuery=None,
        ),
        flow("stage.payments", "core.revenue", "amount>revenue=SUM(stage.payments.amount)", jobs=["nightly.revenue"]),
        flow("core.revenue", "mart.board_report", "revenue>revenue=SUM(core.revenue.revenue)", jobs=["board"]),
    ]
    marts = [
        flow("raw.crm_contacts", "stage.contacts", "contact_id>contact_id", "email>email", "phone>phone", "city>city"),
        flow("stage.contacts", "core.customer", "contact_id>customer_id", "email>email_hash=MD5(stage.contacts.email)"),
        flow("core.customer", "mart.customer_by_city", "customer_id>customers=COUNT(core.customer.customer_id)"),
        flow("stage.contacts", "mart.newsletter", "email>email", "city>city", jobs=["growth.newsletter"]),
    ]
    for day in range(15, -1, -1):
        yield day, [*marts, *(revenue if day >= 4 else ())]


@contextmanager
def served(file: Path) -> Iterator[http_client.Client]:
    """A server of the tree's own on this catalog."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "workflows", "serve", "--catalog", str(file), "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = http_client.Client(f"http://127.0.0.1:{port}/api")
    try:
        for _ in range(300):
            try:
                client.get("/headwater")
                break
            except requests.ConnectionError:
                time.sleep(0.1)
        yield client
    finally:
        process.terminate()
        process.wait(timeout=30)


def _tell(client: http_client.Client, ids: dict[str, str]) -> None:
    """What is no table and no edge: tags, a test, a drop, readers, loads, runs and what is dead."""
    entity = {name: {"id": value, "type": "table"} for name, value in ids.items()}
    label = {"tagFQN": "PII.Sensitive", "source": "Classification", "labelType": "Manual", "state": "Confirmed"}
    tagged = [{"op": "add", "path": "/columns/1/tags", "value": [label]}]
    _said(client.patch(f"/tables/name/{HOME}.raw.crm_contacts", tagged))
    definition = {"description": "No value is missing.", "entityType": "COLUMN", "testPlatforms": ["dbt"]}
    client.made("/dataQuality/testDefinitions", {"name": "not_null", **definition})
    link = f"<#E::table::{HOME}.raw.payments::columns::amount>"
    case = {"name": "has_amount", "entityLink": link, "testDefinition": "not_null"}
    test = client.made("/dataQuality/testCases", case)["fullyQualifiedName"]
    for at, status in ((NOW - 5 * DAY, "Success"), (NOW - 4 * HOUR, "Failed")):
        result = {"timestamp": at, "testCaseStatus": status, "failedRows": 12 if status == "Failed" else 0}
        _said(client.post(f"/dataQuality/testCases/testCaseResults/{test}", result))
    drop = {"kind": "dropColumn", "entity": entity["raw.crm_contacts"], "column": "phone", "at": NOW - HOUR}
    _said(client.post("/headwater/names", {"events": [drop]}))
    loads = [
        {"entity": entity["core.revenue"], "at": NOW - day * DAY, "run": f"{day:016x}", "statement": "revenue"}
        | {"status": "failed" if day < 4 else "complete", "error": "57014" if day < 4 else "", "job": "nightly.revenue"}
        for day in range(15)
    ]
    _said(client.post("/headwater/loads", {"loads": loads}))
    _tell_of_readers_and_runs(client, entity)


def _tell_of_readers_and_runs(client: http_client.Client, entity: dict[str, dict[str, str]]) -> None:
    days = [NOW // DAY - day for day in range(40)]
    span = {"part": "p", "service": "lake", "first": NOW - 40 * DAY, "last": NOW, "days": days}
    span |= {"counts": {"selects": 400, "read": 400}}
    read: tuple[str, ...] = (
        "mart.newsletter",
        "mart.board_report",
        "mart.customer_by_city",
        "core.refunds",
        "raw.refunds",
    )
    read = (*read, *(name for name in entity if name.startswith("bulk.")))
    reads = [{"entity": entity[name], "how": "star", "reader": "ann", "last": NOW - DAY} for name in read]
    _said(client.post("/headwater/reads", {"source": "night", "span": span, "reads": reads}))
    run = {"workflow": "night", "run": "4a7", "service": "lake", "started": NOW - HOUR, "ended": NOW, "outcome": "done"}
    counts = {"statements": 40, "published": 39, "skipped": {}, "dead": {"unparsable": 1}}
    _said(client.post("/headwater/workflow-runs", {**run, "report": {"counts": counts}}))
    dead = {"location": "night.log:4711", "run": "4a7", "reason": "unparsable", "masked": "INSERT INTO core.refunds …"}
    told = {"workflow": "night", "dead": [{**dead, "writes": [entity["core.refunds"]["id"]]}], "dead_total": 1}
    _said(client.post("/headwater/workflow-runs/open-statements", told))


def _said(answer: tuple[int, Any]) -> None:
    """A tree that has no such call is not told; any other refusal is a mistake of this script."""
    status, body = answer
    if status not in (200, 201, 404):
        raise SystemExit(f"the catalog refused what it was to be told: {body}")


def main() -> int:
    """Makes the catalogs, unless they are there, and asks."""
    parser = argparse.ArgumentParser(description="Thirty questions over the protocol.")
    parser.add_argument("--catalogs", type=Path, help="a folder that keeps the catalogs for the next time")
    parser.add_argument("--show", default="", help="print the answers to questions with these words")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = options.catalogs or Path(folder)
        outcomes = []
        for name, make, questions in (("sample", sample_catalog, SAMPLE), ("lake", lake_catalog, LAKE)):
            file = root / name / "catalog.db"
            file = file if file.exists() else make(root / name)
            outcomes += anyio.run(lambda at=file, given=questions: asked(at, given, show=options.show))
    calls, tokens = sum(one.calls for one in outcomes), sum(one.tokens for one in outcomes)
    answered, kept = sum(not one.missing for one in outcomes), sum(one.kept for one in outcomes)
    print(
        f"{len(outcomes)} questions: {answered} answered, {kept} within {MOST_CALLS} calls and {MOST_TOKENS:,} tokens"
    )
    print(f"{calls} calls, {tokens:,} tokens; of those that are answered the dearest has", _dearest(outcomes))
    return 0 if kept == len(outcomes) else 1


def _dearest(outcomes: Sequence[Outcome]) -> str:
    return f"{max((one.tokens for one in outcomes if not one.missing), default=0):,} tokens"


if __name__ == "__main__":
    sys.exit(main())
