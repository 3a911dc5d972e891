"""What a dbt project says beside lineage, filed to servers of one version of OpenMetadata: held by it, or told."""

from __future__ import annotations

import pytest

from connectors.openmetadata.http import Timing
from tests.support.filed_projects import filed_to
from tests.support.openmetadata_shop import shop_of
from tests.support.openmetadata_stub import Minor


@pytest.mark.parametrize("minor", [(1, 5), (1, 7), (1, 9), (1, 12), (2, 0)], ids=["1.5", "1.7", "1.9", "1.12", "2.0"])
def test_a_project_is_filed_as_the_version_has_it_and_the_rest_is_told(minor: Minor) -> None:
    with shop_of(minor, Timing()) as shop:
        told = filed_to(shop.platform, "shop.db.public.orders")
    stored, name = shop.stub.entities, ".".join(map(str, minor))
    assert bool(stored["dataQuality/testCases"]) is (minor >= (1, 8))
    assert [one for one in told if "in suites alone" in one] == (
        [f"OpenMetadata {name} takes tests in suites alone: 3 tests are left out"] if minor < (1, 8) else []
    )
    assert [one for one in told if "could not be filed" in one] == []
    assert stored["dashboards"]
    assert bool(stored["metrics"]) is (minor >= (1, 6))
    assert [one for one in told if "metrics" in one] == {
        "1.5": ["OpenMetadata 1.5 has no metrics: 1 are left out"],
        "2.0": [],
    }.get(name, [f"OpenMetadata {name} has no measures and dimensions of metrics: 1 metrics without them"])
    assert not [one for one in shop.stub.received if one.status == 405 or (one.status == 400 and one.method != "GET")]
