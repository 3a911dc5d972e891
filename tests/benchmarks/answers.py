"""What an answer costs a language model, beside what others' cost: `python tests/benchmarks/answers.py`.

The figures of the others are of their users' reports: 250,000 characters for two nodes (OpenMetadata#28562), 100,000
for one answer (mcp-server-datahub#154), 57 calls for one table (mcp-server-datahub#206), 200,000 tokens for one answer
(OpenMetadata#22492).
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from connectors.catalog.answer.pages import AnswerRows, token_count
from connectors.catalog.mcp.answers import CatalogAnswers
from tests.support.made_catalog import MadeCatalog

WIDE = 500
"""Columns of each of two nodes, and of one table."""
MANY = 2_000
"""Tables of a catalog that lie downstream of one."""
WHOLE = 20_000
"""Tokens a call, of who wants everything."""


def main() -> None:
    """Prints characters, tokens and calls of three questions."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "catalog.db"
        _fill(file)
        with CatalogAnswers(file) as answers:
            for what, others, ask in (
                ("two nodes of 500 columns", "250,000 characters", lambda: answers.lineage("wide_b")),
                ("one table of 500 columns", "57 calls", lambda: answers.describe("wide_a")),
                ("all downstream of a table among 2,000", "200,000 tokens", lambda: answers.impact("t0.v")),
            ):
                begun = time.perf_counter()
                answer = ask()
                seconds = time.perf_counter() - begun
                print(f"{what} (elsewhere {others}), {seconds:.2f} s")
                for budget in (2_000, WHOLE):
                    calls, characters, tokens, first = _walk(answer, budget)
                    print(
                        f"  {budget:>6} tokens a call: first answer {first:>6,} characters; "
                        f"all {answer.page(budget).total:,} rows in {calls} calls, {characters:,} characters, "
                        f"{tokens:,} tokens"
                    )


def _walk(answer: AnswerRows, budget: int) -> tuple[int, int, int, int]:
    calls = characters = tokens = first = 0
    cursor: str | None = None
    while calls == 0 or cursor is not None:
        page = answer.page(budget, cursor)
        text = max(page.text, json.dumps(page.structured, ensure_ascii=False), key=len)
        calls, characters, tokens = calls + 1, characters + len(text), tokens + token_count(page.text)
        first = first or len(text)
        cursor = page.cursor
    return calls, characters, tokens, first


def _fill(file: Path) -> None:
    made = MadeCatalog(file)
    home = "lake.main.mart"
    columns = [f"a_measure_of_something_{number}" for number in range(WIDE)]
    made.add_tables({f"{home}.wide_a": columns, f"{home}.wide_b": columns})
    made.add_tables({f"{home}.t{number}": ("v",) for number in range(MANY)})
    edges = [("wide_a", "wide_b", columns)]
    edges += [(f"t{(number - 1) // 2}", f"t{number}", ["v"]) for number in range(1, MANY)]
    made.add_edges(
        (
            f"{home}.{source}",
            f"{home}.{target}",
            {
                "producer": {"kind": "query", "key": target},
                "sqlQuery": f"INSERT INTO {target} SELECT * FROM {source}",
                "columns": [
                    {"from": [f"{home}.{source}.{one}"], "to": f"{home}.{target}.{one}", "subtype": "IDENTITY"}
                    for one in names
                ],
            },
        )
        for source, target, names in edges
    )
    made.close()


if __name__ == "__main__":
    main()
