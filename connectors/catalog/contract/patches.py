"""JSON Patch (RFC 6902) as clients send it: applied within bounds, since a few copies of copies make gigabytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jsonpatch

from connectors.catalog.contract.errors import ApiError, bad_request
from ingestion.model.lineage import Json

LARGEST_COPIES = 8 << 20
"""About how many bytes all copies of one patch may make."""

LARGEST_PATCH = 1 << 21
"""Steps that the operations of one patch may take down the document: many long paths cost more than their bytes."""

_BYTES_OF_A_VALUE = 64

LISTS = frozenset(
    (
        *("children", "columns", "owners", "tags", "users", "usedBy", "queryUsedIn", "tasks", "downstreamTasks"),
        *("tableConstraints", "referredColumns", "fileFormats", "columnsLineage", "fromColumns", "tempLineageTables"),
    )
)
"""What an entity, a column or an edge keeps as a list. An absent one is empty: clients patch its first item into it."""


def apply_patch(document: Json, operations: Sequence[Json]) -> Json:
    """`document`, which is changed, after a JSON Patch.

    Raises ApiError: 400 when it does not apply, 413 when it copies more than LARGEST_COPIES or goes too many steps.
    """
    if (
        sum(operation["path"].count("/") + operation.get("from", "").count("/") for operation in operations)
        > LARGEST_PATCH
    ):
        raise ApiError(413, "the JSON Patch goes too deep too often: send its operations in several calls")
    left = LARGEST_COPIES
    result: Any = document
    try:
        for operation in operations:
            if operation["op"] == "copy":
                left -= _size(jsonpatch.JsonPointer(operation["from"]).resolve(result), left)
            if left < 0:
                raise ApiError(413, f"the JSON Patch copies more than {LARGEST_COPIES} bytes: send what is to be there")
            if operation["op"] in {"add", "replace"}:
                _begin_list(result, jsonpatch.JsonPointer(operation["path"]).parts)
            result = jsonpatch.JsonPatch([operation]).apply(result, in_place=True)
    except (jsonpatch.JsonPatchException, jsonpatch.JsonPointerException, TypeError, KeyError, IndexError) as error:
        raise bad_request("the JSON Patch does not apply to what is stored") from error
    except (ValueError, AttributeError, RecursionError) as error:
        raise bad_request("the JSON Patch is not well formed") from error
    if not isinstance(result, dict):
        raise bad_request("the JSON Patch does not leave an object")
    return result


def _begin_list(document: Any, path: Sequence[str]) -> None:
    """Makes the absent list whose first item, or whose whole, `path` names."""
    inside = path[:-1] if path and path[-1] in {"0", "-"} else path
    if not inside or inside[-1] not in LISTS:
        return
    holder = jsonpatch.JsonPointer.from_parts(inside[:-1]).resolve(document, None)
    if isinstance(holder, dict) and holder.get(inside[-1]) is None:
        holder[inside[-1]] = []


def _size(value: Any, limit: int) -> int:
    """About how many bytes a value takes; counted no further than beyond `limit`."""
    size = 0
    waiting = [value]
    while waiting and size <= limit:
        one = waiting.pop()
        size += _BYTES_OF_A_VALUE + (len(one) if isinstance(one, str) else 0)
        waiting.extend(_parts(one))
    return size


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, list):
        yield from value
