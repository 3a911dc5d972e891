"""How large a text is for a language model, told without a network and without its tokenizer: never too small a number.

Tokenizers take the common words of their language whole and names apart. So what is counted is what names cost: a token
for each two and a half letters, each digit, each sign and each two spaces begun, and one a byte outside ASCII. What is
between two values of JSON is one.
"""

from __future__ import annotations

import re

DEFAULT_BUDGET = 2_000
LEAST_BUDGET = 500
"""Tokens in which the totals, a long row and the cursor still have room."""

_PIECES = re.compile(r"([A-Za-z]+)|(\s+)|([^\x00-\x7f]+)|\",\"|.", re.DOTALL)


def token_count(text: str) -> int:
    """At most so many tokens is `text`; of texts that are put together with a line end or a sign it is the sum."""
    count = 0
    for letters, spaces, others in _PIECES.findall(text):
        if letters:
            count += (2 * len(letters) + 4) // 5
        elif spaces:
            count += (len(spaces) + 1) // 2
        elif others:
            count += len(others.encode("utf-8", "surrogatepass"))
        else:
            count += 1
    return count
