"""dbt models as they are written: their references as names, without what only dbt reads."""

from __future__ import annotations

import re

_TEXT = r"(?:'([^'\\]*)'|\"([^\"\\]*)\")"
_OPEN, _CLOSE = r"\{\{-?\s*", r"\s*-?\}\}"
_REF = re.compile(
    rf"{_OPEN}ref\(\s*{_TEXT}(?:\s*,\s*{_TEXT})?(?:\s*,\s*v(?:ersion)?\s*=\s*['\"]?(\w+)['\"]?)?\s*\){_CLOSE}"
)
_SOURCE = re.compile(rf"{_OPEN}source\(\s*{_TEXT}\s*,\s*{_TEXT}\s*\){_CLOSE}")
_THIS = re.compile(rf"{_OPEN}this{_CLOSE}")
_CONFIG = re.compile(rf"{_OPEN}config\s*\((?:[^{{}}]|\{{[^{{}}]*\}})*\){_CLOSE}")
_COMMENT = re.compile(r"\{#(?:[\s\S]*?#\}|(?P<open>[\s\S]*+))")
_CONDITION = re.compile(r"\{%-?\s*(?:if\s[^%]*|endif\s*-?)%\}")
_PLAIN = re.compile(r"[A-Za-z_]\w*")


def without_templates(text: str, model: str) -> str:
    """The text of the dbt model `model` with ref, source and this as names, on the same lines.

    config, comments and the tags of if go, what stands under an if stays. Other templates stay as they are, for what
    they would become is not known: a parser refuses the statement then.
    """
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return text
    for gone in (_COMMENT, _CONFIG, _CONDITION):
        text = gone.sub(_line_ends, text)
    text = _REF.sub(_reference, text)
    text = _SOURCE.sub(lambda match: ".".join(_texts(match)) if _are_plain(match) else match.group(), text)
    return _THIS.sub(model, text) if _PLAIN.fullmatch(model) else text


def _line_ends(match: re.Match[str]) -> str:
    if match.lastgroup == "open":
        return match.group()
    return "\n" * match.group().count("\n") or " "


def _reference(match: re.Match[str]) -> str:
    if not _are_plain(match):
        return match.group()
    version = match.group(5)
    return _texts(match)[-1] + (f"_v{version}" if version else "")


def _texts(match: re.Match[str]) -> list[str]:
    return [text for text in match.groups()[:4] if text is not None]


def _are_plain(match: re.Match[str]) -> bool:
    return all(_PLAIN.fullmatch(text) for text in _texts(match))
