"""Why a template cannot be rendered here, and on which of its lines."""

from __future__ import annotations

import re
import traceback

import jinja2

_MEMBER = re.compile(r"^'[\w.]+ object' has no attribute ")

MODEL = "<model>"
"""The file name of the template that is being rendered, by which its lines are found in a trace."""


class NotRenderable(Exception):
    """The template asks for what is not here; the message names it, and quotes nothing else."""


TEMPLATE_ERRORS: tuple[type[Exception], ...] = (
    jinja2.TemplateError,
    NotRenderable,
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
    re.error,
)
"""What a template can raise by what it says."""


def failure_of(error: Exception) -> tuple[int, str]:
    """The line of the model (0: unknown) and the reason why it cannot be rendered."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return (error.lineno if error.filename == MODEL else 0), "not valid Jinja"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == MODEL]
    if isinstance(error, jinja2.UndefinedError):
        reason = _MEMBER.sub("there is no ", str(error))
    elif isinstance(error, NotRenderable):
        reason = str(error)
    elif isinstance(error, jinja2.exceptions.SecurityError):
        reason = "reaches for what a template may not have"
    else:
        reason = type(error).__name__
    return (lines[-1] if lines else 0) or 0, reason
