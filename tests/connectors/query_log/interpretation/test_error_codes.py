"""Of an error its code alone is kept: what may be anybody's word is none."""

import pytest

from connectors.query_log.interpretation.error_codes import error_code


@pytest.mark.parametrize("code", ["22012", "42P01", "1064", "-911", "100132", "invalidQuery", "TYPE_MISMATCH", " 7 "])
def test_a_code_of_a_server_is_kept(code: str) -> None:
    assert error_code(code) == code.strip()


@pytest.mark.parametrize(
    "words", ["", "0", "00000", "canary", "HELLO", "SECRET", "4111111111111111", "Division by zero: 7", "22O12 x"]
)
def test_what_may_be_a_word_of_a_message_is_not(words: str) -> None:
    assert error_code(words) is None
