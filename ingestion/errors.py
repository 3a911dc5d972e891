"""The errors, grouped by what the caller can do next.

LineageError
├─ ConfigError          fix the configuration           exit 2
├─ RecordError          skip this record, go on
│   ├─ ParseTimeout  ParseMemory  ParseCrash  Unparsable  Templated  TooLarge  TooManySteps  TooManyColumns
│   └─ Rejected         the target refused it (4xx)
├─ ParserUnavailable    no parser process comes up      exit 1
├─ RetryableError       try again
├─ TargetDown           stop now, come back later       exit 75
├─ LeaseHeld            another run is at it            exit 75
├─ StateLost            the state store broke down      exit 75 or 2
├─ SparkLost            Spark broke down, run it again  exit 1
├─ ThresholdBreached    finished, too little succeeded  exit 3
├─ Unaccounted          a bug: the counts disagree      exit 1
└─ Interrupted          drained after a signal          exit 130 or 143
"""

from __future__ import annotations


class LineageError(Exception):
    """Base of all errors raised here; `code` is stable, the message says what to do next."""

    code = "lineage_error"
    exit_code = 1


class ConfigError(LineageError):
    """The configuration or the environment is wrong: nothing was started; repeating will not help."""

    code = "config"
    exit_code = 2


class RecordError(LineageError):
    """This record cannot be used; the others can."""

    code = "record"


class ParseTimeout(RecordError):
    """A parser overran its time (seconds) and its process was killed."""

    code = "timeout"


class ParseMemory(RecordError):
    """A parser overran its memory and its process was killed."""

    code = "memory"


class ParseCrash(RecordError):
    """The parser's process died."""

    code = "crash"


class Unparsable(RecordError):
    """No parser could make sense of the text.

    `words` are what may be told of it, without a literal; `line` and `column` (from 1, 0 if unknown) where it stopped.
    """

    code = "unparsable"

    def __init__(self, message: str = "", words: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.words = words
        self.line = line
        self.column = column


class FinalRefusal(Unparsable):
    """What the statement does is known not to be told: no later parser is asked, which knows less and would answer.

    It would take the name of a query or a function for a table's, or the values of other columns for those written.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, message)


class Templated(RecordError):
    """A template was left in the text that nobody filled in: give the text that the database was sent."""

    code = "templated"


class TooLarge(RecordError):
    """The text is beyond what any parser is given (bytes)."""

    code = "too_large"


class TooManySteps(RecordError):
    """A stage after parsing was stopped: the statement has more to it than one may."""

    code = "too_many_steps"


class TooManyColumns(TooManySteps):
    """The statement names more columns of one table than one may."""

    code = "too_many_columns"


class Rejected(RecordError):
    """The target refused this request (4xx) and would refuse it again."""

    code = "rejected"


class ParserUnavailable(LineageError):
    """No parser process can be started here: the environment's fault, not that of any statement."""

    code = "parser_unavailable"


class RetryableError(LineageError):
    """The call may succeed when repeated; `retry_after` is in seconds where the target named it."""

    code = "retryable"

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message, retry_after)
        self.message = message
        self.retry_after = retry_after

    def __str__(self) -> str:
        return self.message


class TargetDown(LineageError):
    """The target does not answer: what was done is kept, come back later."""

    code = "target_down"
    exit_code = 75


class LeaseHeld(LineageError):
    """Another run of the workflow is at work: come back later."""

    code = "lease_held"
    exit_code = 75


class StateLost(LineageError):
    """What a run has its state or its passing files in stopped working: what was acknowledged stays, retry later.

    Exit code 2 where coming back does not help: it is damaged, or read-only.
    """

    code = "state_lost"
    exit_code = 75


class SparkLost(LineageError):
    """Spark's JVM or one of its workers ended, or ran out of room: what was noted is kept, run it again."""

    code = "spark_lost"


class ThresholdBreached(LineageError):
    """The run finished, but too little of it succeeded."""

    code = "threshold"
    exit_code = 3


class Unaccounted(LineageError):
    """The counts of a run do not add up: a statement was lost or counted twice."""

    code = "unaccounted"


class Interrupted(LineageError):
    """A signal ended the run after it drained; `exit_code` is 130 (SIGINT) or 143 (SIGTERM)."""

    code = "interrupted"

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code
