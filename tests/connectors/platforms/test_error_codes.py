"""Of an error its code alone is kept: what may be anybody's word is none."""

import pytest

from connectors.platforms.error_codes import error_code


@pytest.mark.parametrize(
    "code",
    ["22012", "42P01", "HYT00", "2203G", "42K0D", "1064", "-911", "100132", "invalidQuery", "TYPE_MISMATCH", " 7 "],
)
def test_a_code_of_a_server_is_kept(code: str) -> None:
    assert error_code(code) == code.strip()


@pytest.mark.parametrize(
    "words",
    ["", "0", "00000", "canary", "HELLO", "SECRET", "44CAT", "42PIN", "4111111111111111", "١٢٣", "22O12 x"],
)
def test_what_may_be_a_word_of_a_message_is_not(words: str) -> None:
    assert error_code(words) is None
