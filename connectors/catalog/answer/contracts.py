"""What a change does to contracts, for people, pull requests and models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from connectors.catalog.answer.pages import Row
from connectors.catalog.answer.writing import Name, cell, code, red, short_text, visible_text
from connectors.catalog.questions.contracts import ContractBreak, ContractReport, PromisedName


def contract_lines(found: ContractReport | None) -> Iterator[str]:
    """A line for each promise that is broken or may be, then what of the contracts is not known."""
    if found is None:
        return
    for one in found.breaks:
        mark = red("breaks contract") if one.breaks else f"{_verdict(one)} contract"
        what = f"{_promise(one)} {visible_text(one.name)}: {visible_text(one.why)}"
        yield f"{mark} {_contract(one)}: {what}  {_location(one)}"
    yield from (f"contract not read: {short_text(one)}" for one in found.unread)
    yield from (f"of contracts: {short_text(one)}" for one in found.notes)
    broken = sum(one.breaks for one in found.breaks)
    doubtful = sum(not one.breaks for one in found.breaks)
    more = f", {doubtful} that may be or are drafts" if doubtful else ""
    yield f"contracts on {found.tables} tables: {broken} promises broken{more}"


def contract_markdown(found: ContractReport | None) -> list[str]:
    """The same as a table in a pull request."""
    if found is None:
        return []
    lines = ["**Contracts**", ""]
    if found.breaks:
        lines += ["| | promise | contract | owner | where |", "|---|---|---|---|---|"]
    for one in found.breaks:
        mark = "❌ breaks" if one.breaks else _verdict(one)
        owners, what = ", ".join(map(cell, one.owners)), f"{_promise(one)} {code(one.name)}: {cell(one.why)}"
        lines.append(f"| {mark} | {what} | {cell(_contract_name(one))} | {owners} | {code(one.location)} |")
    if not found.breaks:
        lines.append(f"No promise on {found.tables} tables is broken.")
    others = [*found.unread, *found.notes]
    return [*lines, "", *(f"- {code(one)}" for one in others), *([""] if others else [])]


def contract_rows(found: ContractReport | None) -> Iterator[Row]:
    """The same as rows of an answer."""
    for one in found.breaks if found is not None else ():
        verdict = "breaks" if one.breaks else _verdict(one)
        parts = (f"{verdict} contract {_contract(one)}: {_promise(one)} ", Name(one.name), f": {short_text(one.why)}")
        owners = ", ".join(map(visible_text, one.owners))
        cells = ("contract", verdict, _contract_name(one), str(one.promise), Name(one.name), owners, one.location)
        yield Row((*parts, f" {_location(one)}"), cells)
    if found is not None:
        yield from (Row((f"contract not read: {(why := short_text(one))}",), ("contract", why)) for one in found.unread)


def _verdict(one: ContractBreak) -> str:
    return f"would break ({one.status})" if one.certain else "may break"


def _contract_name(one: ContractBreak) -> str:
    return f"{one.contract} {one.version}".strip()


def _contract(one: ContractBreak) -> str:
    owners = f" (owner {', '.join(map(visible_text, one.owners))})" if one.owners else ""
    return f"{visible_text(_contract_name(one))}{owners}"


def _promise(one: ContractBreak) -> str:
    return f"{one.promise} {visible_text(one.rule)} on" if one.rule else str(one.promise)


def _location(one: ContractBreak) -> str:
    return visible_text(one.location)


# What contracts promise of what lies downstream of a name.


def promise_lines(promises: Sequence[PromisedName] | None) -> Iterator[str]:
    """A line for each table and column that a contract promises."""
    for one in promises or ():
        yield f"  promised {visible_text(one.name)} by contract {_by(one)}  {visible_text(one.location)}"
    if promises is not None and not promises:
        yield "  no contract is known to promise any of it"


def promise_rows(promises: Sequence[PromisedName] | None) -> Iterator[Row]:
    """The same as rows of an answer."""
    for one in promises or ():
        parts = ("promised ", Name(one.name), f" by contract {_by(one)} {visible_text(one.location)}")
        owners = ", ".join(map(visible_text, one.owners))
        yield Row(parts, ("promised", Name(one.name), one.contract, owners, one.location))


def _by(one: PromisedName) -> str:
    owners = f" (owner {', '.join(map(visible_text, one.owners))})" if one.owners else ""
    return f"{visible_text(one.contract)}{owners}"
