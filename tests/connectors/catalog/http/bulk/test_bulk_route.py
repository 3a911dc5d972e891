"""Bulk bodies, whichever way they are read: the same answers and the same refusals."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.http_client import Client

NAMES = {"service": "shop", "names": [{"table": "t"}], "columns": False}


def post(client: Client, body: bytes, **headers: str) -> tuple[int, Any]:
    answer = client.session.post(f"{client.url}/headwater/tables/lookup", data=body, headers=headers, timeout=30)
    return answer.status_code, answer.json()


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "application/vnd.shop+json"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_body_means_the_same_in_each_encoding_and_type(shop: Client, kind: str, encoding: str) -> None:
    table = shop.table("t")
    status, answer = post(shop, json.dumps(NAMES).encode(encoding), **{"content-type": kind})
    assert (status, [one["id"] for one in answer["matches"][0]]) == (200, [table["id"]])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"service": "shop"}', "body.names: missing"),
        (b'{"service": "shop", "names": [', "json_invalid"),
        (b'{"service": "\\ud800", "names": [{"table": "t"}]}', "body.service: string_unicode"),
        (b"[" * 100_000, "error parsing the body"),
    ],
)
def test_what_is_wrong_with_a_body_is_told(shop: Client, body: bytes, message: str) -> None:
    status, answer = post(shop, body, **{"content-type": "application/json"})
    assert status == 400
    assert message in answer["message"]


def test_a_condition_and_a_body_of_another_type_are_refused(shop: Client) -> None:
    body = json.dumps(NAMES).encode()
    assert post(shop, body, **{"content-type": "application/json", "if-match": "*"})[0] == 400
    assert post(shop, body, **{"content-type": "text/plain"})[0] == 400
