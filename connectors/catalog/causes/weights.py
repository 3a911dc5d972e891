"""How much what speaks for or against a suspect counts."""

from __future__ import annotations

from collections.abc import Mapping

from connectors.catalog.causes.column_paths import DIRECT, INDIRECT, TABLE
from connectors.catalog.causes.facts import IncidentKind

KIND_WEIGHTS: Mapping[IncidentKind, float] = {
    IncidentKind.DEFINITION: 3.0,
    IncidentKind.NEW_WRITER: 2.0,
    IncidentKind.TYPE: 3.2,
    IncidentKind.COLUMN_DROPPED: 3.2,
    IncidentKind.COLUMN_RENAMED: 3.0,
    IncidentKind.TABLE_DROPPED: 3.0,
    IncidentKind.LOAD_FAILED: 3.0,
    IncidentKind.LOAD_REPLACED: 1.5,
    IncidentKind.LOAD_MISSING: 3.0,
    IncidentKind.LOAD_LATE: 2.5,
    IncidentKind.FEWER_ROWS: 2.5,
    IncidentKind.MORE_ROWS: 2.0,
}
"""What is not here, such as a column that was added, is told in the timeline alone."""
TIES = {DIRECT: 1.0, INDIRECT: 0.7, TABLE: 0.4}
OFF_THE_PATH = 0.25
"""Of a change of columns that do not lead to what went wrong."""
BEFORE_THE_LAST_PASS = 0.15
FAILING_TEST = 1.6
CONSEQUENCE = 0.3
OTHER_FAILURES = 0.85
"""How much of the weight hangs on how many of the failing tests a suspect explains."""
SYMPTOMS = frozenset({IncidentKind.FEWER_ROWS, IncidentKind.MORE_ROWS})
"""What a load that is as it was shows of what it read."""
INHERITED = 0.5
"""How much of what a table shows speaks against those that it is made of."""
SILENT = 0.3
"""Of a table where nothing is known to have happened: among those the ones that more failing tests depend on."""
PASSED = {DIRECT: 0.5, INDIRECT: 0.2, TABLE: 0.1}
PASSED_OF_THE_SAME_KIND = 1.0
"""How much a passed test downstream counts beside the failing ones."""
USUAL_SIZE = 0.4
"""Of what is inherited in a count of rows, where the suspect itself had as many as ever."""
CLEARED = 0.7
"""What is taken away of a suspect downstream of which all tests passed."""
