"""Scripts of Oracle's SQL*Plus: its own commands end with their line, and none begins inside a statement."""

from __future__ import annotations

import re
from dataclasses import dataclass

_COMMAND = re.compile(
    r"[ \t]*+(?:@|!|set\s++(?!role\b|transaction\b|constraints?\b)\w"
    r"|(?:rem(?:ark)?|pro(?:mpt)?|col(?:umn)?|spo(?:ol)?|def(?:ine)?|undef(?:ine)?|acc(?:ept)?|var(?:iable)?|print"
    r"|exit|quit|pau(?:se)?|cl(?:ear)?|ttitle|btitle|repheader|repfooter|bre(?:ak)?|comp(?:ute)?|ho(?:st)?|sta(?:rt)?"
    r"|desc(?:ribe)?|sho(?:w)?|timi(?:ng)?|disc(?:onnect)?|conn(?:ect)?|whenever\s++(?:sql|os)error)"
    r"(?![\w.$#]))",
    re.IGNORECASE,
)
_CALL = re.compile(r"[ \t]*+exec(?:ute)?\s++(?!immediate\b)\S", re.IGNORECASE)
_BLOCK = re.compile(
    r"[ \t]*+(?:declare|begin|<<|create\s++(?:or\s++replace\s++)?+(?:(?:non)?editionable\s++)?+"
    r"(?:procedure|function|package|trigger|type|library))\b",
    re.IGNORECASE,
)
_SQLPLUS = re.compile(rf"^(?:{_COMMAND.pattern}|{_CALL.pattern})", re.IGNORECASE | re.MULTILINE)


def without_sqlplus_commands(text: str) -> str:
    """The script without the client's commands, each statement on the line where it was; EXECUTE's lines are ended.

    A statement begins with the first line that is no command, and ends with a line that ends in a semicolon, or that
    is a slash; a block ends with the slash alone.
    """
    if _SQLPLUS.search(text) is None:
        return text
    reading = _ScriptReading()
    return "\n".join(reading.read(line) for line in text.split("\n"))


@dataclass(slots=True)
class _ScriptReading:
    """What the script is in: a statement, a block, a comment, or a command that goes on in the next line."""

    statement: bool = False
    block: bool = False
    comment: bool = False
    command: bool = False
    call: bool = False

    def read(self, line: str) -> str:
        """The line, or "" where it is the client's."""
        plain = line.strip()
        if self.call:
            return self._call_line(line)
        if plain == "." and not self.comment:  # what was typed so far is not run
            self.statement = False
            return "/"
        if self.statement:
            self.statement = plain != "/" and (self.block or not plain.endswith(";"))
        elif self.comment or plain.startswith("/*"):
            self.comment = "*/" not in plain
        elif self.command or _COMMAND.match(line) is not None:
            self.command = plain.endswith("-")
            return ""
        elif _CALL.match(line) is not None:
            return self._call_line(line)
        elif plain and plain != "/" and not plain.startswith("--"):
            self.block = _BLOCK.match(line) is not None
            self.statement = self.block or not plain.endswith(";")
        return line

    def _call_line(self, line: str) -> str:
        """A line of EXECUTE, which goes on in the next one behind a dash."""
        plain = line.rstrip()
        self.call = plain.endswith("-")
        if self.call:
            return plain[:-1]
        return plain if plain.endswith(";") else f"{plain};"
