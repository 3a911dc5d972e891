"""The Python of docs/library.md, from its first block to its last, prints what its comments say."""

from __future__ import annotations

import contextlib
import io
import re

from tests.support.shown_yaml import REPOSITORY

PAGE = (REPOSITORY / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def promised(block: str) -> list[str]:
    """What the comments of a block say: each is a line of what it prints."""
    return re.findall(r"(?:^|  )# ?(.*)$", block, re.MULTILINE)


def test_the_page_shows_what_its_code_prints() -> None:
    names: dict[str, object] = {}
    assert len(BLOCKS) == 6
    for block in BLOCKS:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, "docs/library.md", "exec"), names)
        assert [line.strip() for line in printed.getvalue().splitlines()] == [line.strip() for line in promised(block)]
