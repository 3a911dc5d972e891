"""The cursor over tokens: words, names, parentheses, and stretches of the text."""

from __future__ import annotations

from ingestion.dialects import dialect_of
from ingestion.dialects.cursor import Code

TEXT = 'INSERT INTO "My ""T""" (a, f(b, c)) SELECT \'it\'\'s\', 12 FROM s'


def code(text: str, dialect: str = "postgres") -> Code:
    return Code.of(text, dialect_of(dialect))


def test_what_stands_in_quotes_is_no_keyword() -> None:
    read = code("SELECT \"from\", 'where' FROM t")
    assert [read.word(index) for index in range(len(read))] == ["select", "", ",", "", "from", "t"]
    assert read.find(0, frozenset({"from", "where"})) == 4


def test_words_stand_one_behind_the_other() -> None:
    read = code(TEXT)
    assert read.stands(0, "insert", "into")
    assert not read.stands(0, "into")
    assert not read.stands(len(read) - 1, "s", "t")
    assert read.word(-1) == read.word(len(read)) == ""


def test_names_and_strings_without_their_quotes() -> None:
    read = code(TEXT)
    assert read.without_quotes(2) == read.name(2) == 'My "T"'
    assert [read.without_quotes(index) for index in range(len(read)) if read.is_string(index)] == ["it's"]
    assert [index for index in range(len(read)) if read.is_number(index)] == [len(read) - 3]
    assert code("SELECT Id FROM T", "mysql").column(1) == "id"
    assert code("SELECT Id FROM T", "mysql").name(3) == "T"


def test_a_stage_is_a_name_without_quotes() -> None:
    read = code("COPY INTO t FROM @db.s/path", "snowflake")
    assert read.without_quotes(4) == "@db.s/path"
    assert not read.is_quoted(4)


def test_parentheses_are_passed_over_as_one() -> None:
    read = code(TEXT)
    opening = 3
    assert read.between(opening, read.after(opening)) == "(a, f(b, c))"
    assert [read.word(index) for index in read.outside(0) if read.word(index)] == [
        "insert",
        "into",
        "(",
        ")",
        "select",
        ",",
        "from",
        "s",
    ]
    assert [read.between(*item) for item in read.items(opening + 1, read.closing(opening))] == ["a", "f(b, c)"]
    assert list(read.outside(opening + 1, 8)) == [4, 5, 6, 7]


def test_what_is_never_closed_goes_to_the_end() -> None:
    read = code("f(a, (b)")
    assert read.closing(1) == len(read)
    assert read.closing(4) == 6
    assert read.closing(0) == 0


def test_a_parenthesis_is_opened_where_another_is_closed() -> None:
    read = code("f(a, (b))")
    assert [read.opening(index) for index in (6, 7)] == [4, 1]
    assert read.opening(0) == code("a)").opening(1) == 0


def test_an_edit_covers_whole_tokens() -> None:
    read = code("SELECT a FROM t")
    start, end, replacement = read.edit(1, 1, "b")
    assert read.text[:start] + replacement + read.text[end:] == "SELECT b FROM t"
    assert read.edit(3, 3)[1] == read.end_of(9) == len(read.text)


def test_a_dotted_name_begins_with_its_first_part() -> None:
    read = code('SELECT a."b c".d, e FROM t')
    assert [read.start_of_name(index) for index in (5, 7, 1)] == [1, 7, 1]
