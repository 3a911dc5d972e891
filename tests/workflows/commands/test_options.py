"""What the options of several commands say of themselves: figures that stand elsewhere too are those."""

from __future__ import annotations

from typing import get_args

import pytest
from typer.models import OptionInfo

from connectors.catalog.answer.pages import DEFAULT_BUDGET, LEAST_BUDGET
from tests.house.source_tree import REPOSITORY
from workflows.commands.options import Budget


def test_the_budget_that_is_told_is_the_one_that_an_answer_has() -> None:
    """The option names it as text: to ask the answers for it, each command would load them when it starts."""
    (option,) = (one for one in get_args(Budget) if isinstance(one, OptionInfo))
    assert option.help is not None
    assert f"; {DEFAULT_BUDGET} if left out" in option.help


@pytest.mark.parametrize("told", [f"{DEFAULT_BUDGET:,} tokens unless", f"({LEAST_BUDGET} to 100,000)"])
def test_the_page_on_language_models_tells_it_too(told: str) -> None:
    assert told in (REPOSITORY / "docs" / "mcp.md").read_text("utf-8")
