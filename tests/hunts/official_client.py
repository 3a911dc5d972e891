"""Calls the catalog with OpenMetadata's own client, method by method: `official_client.py http://host:port/api`.

Run by the Python that has `openmetadata-ingestion` of the version that the server names; the server is to be an empty
one, started with `ingest serve --sample-data`. Prints what failed and why, and ends with 1 if anything did.
"""

from __future__ import annotations

import sys
import time
import traceback
import uuid
from collections.abc import Callable
from datetime import date
from types import SimpleNamespace
from typing import Any

from metadata.generated.schema.api.classification.createClassification import CreateClassificationRequest
from metadata.generated.schema.api.classification.createTag import CreateTagRequest
from metadata.generated.schema.api.data.createChart import CreateChartRequest
from metadata.generated.schema.api.data.createDashboard import CreateDashboardRequest
from metadata.generated.schema.api.data.createDashboardDataModel import CreateDashboardDataModelRequest
from metadata.generated.schema.api.data.createDatabase import CreateDatabaseRequest
from metadata.generated.schema.api.data.createDatabaseSchema import CreateDatabaseSchemaRequest
from metadata.generated.schema.api.data.createMetric import CreateMetricRequest
from metadata.generated.schema.api.data.createQuery import CreateQueryRequest
from metadata.generated.schema.api.data.createTable import CreateTableRequest
from metadata.generated.schema.api.domains.createDomain import CreateDomainRequest
from metadata.generated.schema.api.lineage.addLineage import AddLineageRequest
from metadata.generated.schema.api.services.createDashboardService import CreateDashboardServiceRequest
from metadata.generated.schema.api.services.createDatabaseService import CreateDatabaseServiceRequest
from metadata.generated.schema.api.teams.createTeam import CreateTeamRequest
from metadata.generated.schema.api.teams.createUser import CreateUserRequest
from metadata.generated.schema.api.tests.createLogicalTestCases import CreateLogicalTestCases
from metadata.generated.schema.entity.classification.tag import Tag
from metadata.generated.schema.entity.data.chart import Chart
from metadata.generated.schema.entity.data.dashboard import Dashboard
from metadata.generated.schema.entity.data.dashboardDataModel import DashboardDataModel
from metadata.generated.schema.entity.data.database import Database
from metadata.generated.schema.entity.data.metric import Metric
from metadata.generated.schema.entity.data.table import (
    Column,
    ColumnJoins,
    DataModel,
    JoinedWith,
    Table,
    TableData,
    TableJoins,
)
from metadata.generated.schema.entity.data.topic import Topic
from metadata.generated.schema.entity.domains.domain import Domain
from metadata.generated.schema.entity.services.connections.metadata.openMetadataConnection import (
    OpenMetadataConnection,
)
from metadata.generated.schema.entity.teams.team import Team
from metadata.generated.schema.entity.teams.user import User
from metadata.generated.schema.security.client.openMetadataJWTClientConfig import OpenMetadataJWTClientConfig
from metadata.generated.schema.tests.basic import TestCaseResult
from metadata.generated.schema.tests.testCase import TestCase
from metadata.generated.schema.tests.testSuite import TestSuite
from metadata.generated.schema.type.entityReference import EntityReference
from metadata.generated.schema.type.entityReferenceList import EntityReferenceList
from metadata.generated.schema.type.lifeCycle import AccessDetails, LifeCycle
from metadata.generated.schema.type.tagLabel import TagLabel
from metadata.generated.schema.type.usageRequest import UsageRequest
from metadata.ingestion.models.patch_request import PatchOperation
from metadata.ingestion.models.table_metadata import ColumnDescription, ColumnTag
from metadata.ingestion.ometa.client import APIError
from metadata.ingestion.ometa.ometa_api import OpenMetadata
from metadata.sdk.api.lineage import Lineage
from metadata.sdk.api.search import Search
from metadata.sdk.entities.tables import Tables

SCHEMA = "shop.main.public"
Check = Callable[[OpenMetadata, SimpleNamespace], None]
CHECKS: list[Check] = []


def check(function: Check) -> Check:
    """Lists a check, to be called in the order of the file."""
    CHECKS.append(function)
    return function


def connected(url: str) -> OpenMetadata:
    """The client, as a workflow makes it."""
    login = OpenMetadataJWTClientConfig(jwtToken="no_token")
    return OpenMetadata(
        OpenMetadataConnection(hostPort=url, authProvider="openmetadata", securityConfig=login)  # type: ignore
    )


def table_request(name: str, columns: str = "id total") -> CreateTableRequest:
    """A table with columns of one type."""
    wanted = [Column(name=column, dataType="INT") for column in columns.split()]
    return CreateTableRequest(name=name, databaseSchema=SCHEMA, columns=wanted)


def fqn(entity: Any) -> str:
    """Its fully qualified name, which some models wrap."""
    return str(getattr(entity.fullyQualifiedName, "root", entity.fullyQualifiedName))


def ref(entity: Any, kind: str) -> EntityReference:
    """A reference to it."""
    return EntityReference(id=entity.id, type=kind)


def refused(status: int, call: Callable[[], object]) -> None:
    """That a call is answered with this status."""
    try:
        call()
    except APIError as error:
        assert error.status_code == status, error.status_code
    else:
        raise AssertionError("it was not refused")


@check
def services_databases_schemas_and_tables(client: OpenMetadata, made: SimpleNamespace) -> None:
    client.create_or_update(CreateDatabaseServiceRequest(name="shop", serviceType="Postgres"))
    client.create_or_update(CreateDatabaseRequest(name="main", service="shop"))
    client.create_or_update(CreateDatabaseSchemaRequest(name="public", database="shop.main"))
    made.orders = client.create_or_update(table_request("orders"))
    made.daily = client.create_or_update(table_request("daily", "day total"))
    made.report = client.create_or_update(table_request("report", "day sum"))
    assert fqn(made.orders) == f"{SCHEMA}.orders"


@check
def create_refuses_what_is_there(client: OpenMetadata, made: SimpleNamespace) -> None:
    assert client.create(table_request("created")).name.root == "created"
    refused(409, lambda: client.create(table_request("created")))


@check
def health(client: OpenMetadata, made: SimpleNamespace) -> None:
    assert client.health_check()
    client.validate_versions()


@check
def listing_all(client: OpenMetadata, made: SimpleNamespace) -> None:
    assert {one.name.root for one in client.list_all_entities(Table, limit=2)} >= {"orders", "daily", "report"}
    assert [
        one.name.root
        for one in client.list_services(
            __import__(
                "metadata.generated.schema.entity.services.databaseService", fromlist=["DatabaseService"]
            ).DatabaseService
        )
    ] == ["shop"]


@check
def lineage_by_id_and_name(client: OpenMetadata, made: SimpleNamespace) -> None:
    details = {"columnsLineage": [{"fromColumns": [f"{SCHEMA}.orders.total"], "toColumn": f"{SCHEMA}.daily.total"}]}
    edge = {"fromEntity": ref(made.orders, "table"), "toEntity": ref(made.daily, "table"), "lineageDetails": details}
    client.add_lineage(AddLineageRequest.model_validate({"edge": edge}))
    client.add_lineage_by_name(f"{SCHEMA}.daily", "table", f"{SCHEMA}.report", "table", None)
    found = client.get_lineage_by_name(Table, f"{SCHEMA}.orders", up_depth=0, down_depth=2)
    assert found is not None and {one["name"] for one in found["nodes"]} == {"daily", "report"}
    near = client.get_lineage_by_id(Table, str(made.report.id.root), up_depth=1, down_depth=0)
    assert near is not None and {one["name"] for one in near["nodes"]} == {"daily"}


@check
def lineage_of_the_sdk(client: OpenMetadata, made: SimpleNamespace) -> None:
    Lineage.set_default_client(client)
    exported = Lineage.export_lineage(Table, str(made.orders.id.root), 0, 3)
    assert exported is not None and len(exported["downstreamEdges"]) == 2
    assert client.get_lineage_edge(str(made.orders.id.root), str(made.daily.id.root))["edge"]["columnsLineage"]


@check
def lineage_graph_and_export(client: OpenMetadata, made: SimpleNamespace) -> None:
    found = client.client.get(f"/lineage/getLineage?fqn={SCHEMA}.orders&type=table&upstreamDepth=0&downstreamDepth=2")
    assert set(found["nodes"]) == {f"{SCHEMA}.{name}" for name in ("orders", "daily", "report")}
    only = client.client.get(
        f"/lineage/getLineage?fqn={SCHEMA}.orders&type=table&downstreamDepth=2&column_filter=columnName:total"
    )
    assert set(only["nodes"]) == {f"{SCHEMA}.orders", f"{SCHEMA}.daily"}
    text = client.client.get(f"/lineage/export?fqn={SCHEMA}.orders&type=table&downstreamDepth=2").text
    assert f"{SCHEMA}.report" in text and text.startswith("fromEntityFQN")


@check
def versions(client: OpenMetadata, made: SimpleNamespace) -> None:
    client.patch_description(Table, made.orders, "What was bought", force=True)
    history = client.get_list_entity_versions(made.orders.id, Table)
    assert len(history.versions) == 2
    assert client.list_versions(made.orders.id, Table) == history
    first = client.get_entity_version(Table, made.orders.id, 0.1)
    assert first.description is None
    latest = client.get_entity_version(Table, made.orders.id, 0.2)
    assert latest.description.root == "What was bought"
    assert [one.name.root for one in latest.changeDescription.fieldsAdded] == ["description"]
    refused(404, lambda: client.client.get(f"/tables/{made.orders.id.root}/versions/9.9"))


@check
def versions_of_the_sdk(client: OpenMetadata, made: SimpleNamespace) -> None:
    Tables.set_default_client(client)
    assert len(Tables.get_versions(made.orders.id.root)) == 2
    assert Tables.get_specific_version(made.orders.id.root, "0.1").version.root == 0.1


@check
def usage(client: OpenMetadata, made: SimpleNamespace) -> None:
    today = date.today().isoformat()
    client.publish_table_usage(made.orders, UsageRequest(date=today, count=5))
    client.publish_table_usage(made.daily, UsageRequest(date=today, count=2))
    client.compute_percentile(Table, today)
    client.compute_percentile(Database, today)
    found = client.get_by_name(Table, fqn(made.orders), fields=["usageSummary"]).usageSummary
    assert (found.dailyStats.count, found.weeklyStats.count, found.dailyStats.percentileRank) == (5, 5, 50.0)
    client.publish_table_usage(made.orders, UsageRequest(date=today, count=6))
    database = client.get_by_name(Database, "shop.main", fields=["usageSummary"])
    assert database.usageSummary.dailyStats.count == 8


@check
def joins(client: OpenMetadata, made: SimpleNamespace) -> None:
    joined = JoinedWith(fullyQualifiedName=f"{SCHEMA}.daily.total", joinCount=3)
    told = TableJoins(
        startDate=date.today(),
        columnJoins=[ColumnJoins(columnName="total", joinedWith=[joined])],
        directTableJoins=[],
    )
    client.publish_frequently_joined_with(made.orders, told)
    client.publish_frequently_joined_with(made.orders, told)
    found = client.get_by_name(Table, fqn(made.orders), fields=["joins"]).joins
    assert found.columnJoins[0].joinedWith[0].joinCount == 3


@check
def queries_and_their_users(client: OpenMetadata, made: SimpleNamespace) -> None:
    client.create_or_update(CreateUserRequest(name="ann", email="ann@example.org"))
    for table in (made.orders, made.daily):
        request = CreateQueryRequest(
            query="select total from orders where id = 1", service="shop", users=["ann"], usedBy=["bot"], dialect="ansi"
        )
        client.ingest_entity_queries_data(table, [request])
    (query,) = client.get_entity_queries(made.orders.id)
    assert {one.id.root for one in query.queryUsedIn.root} == {made.orders.id.root, made.daily.id.root}
    assert [one.name for one in query.users] == ["ann"] and query.usedBy == ["bot"]


@check
def life_cycle(client: OpenMetadata, made: SimpleNamespace) -> None:
    told = LifeCycle(accessed=AccessDetails(timestamp=1_700_000_000_000, accessedByAProcess="nightly"))
    client.patch_life_cycle(made.orders, told)
    found = client.get_by_name(Table, fqn(made.orders), fields=["lifeCycle"])
    assert found.lifeCycle.accessed.accessedByAProcess == "nightly"


@check
def data_model(client: OpenMetadata, made: SimpleNamespace) -> None:
    columns = [Column(name="total", dataType="INT", description="money")]
    model = DataModel(modelType="DBT", sql="select 1", rawSql="select {{ x }}", path="m.sql", columns=columns)
    client.ingest_table_data_model(made.daily, model)
    found = client.get_by_name(Table, fqn(made.daily), fields=["dataModel"])
    assert found.dataModel.sql.root == "select 1" and found.dataModel.columns[0].description.root == "money"
    client.create_or_update(table_request("daily", "day total"))
    assert client.get_by_name(Table, fqn(made.daily), fields=["dataModel"]).dataModel is not None


@check
def sample_data(client: OpenMetadata, made: SimpleNamespace) -> None:
    client.ingest_table_sample_data(made.orders, TableData(columns=["id", "total"], rows=[[1, 2]]))
    assert client.get_sample_data(made.orders).sampleData.rows == [[1, 2]]
    client.delete_sample_data(made.orders)
    assert client.get_sample_data(made.orders).sampleData is None


@check
def owners_and_references(client: OpenMetadata, made: SimpleNamespace) -> None:
    made.ann = client.get_by_name(User, "ann")
    made.team = client.create_or_update(
        CreateTeamRequest(name="finance", teamType="Group", email="finance@example.org", users=[made.ann.id])
    )
    client.create_or_update(
        CreateUserRequest(name="bob", email="bob@example.org", displayName="Bob B", teams=[made.team.id])
    )
    assert client.get_reference_by_email("bob@example.org").root[0].name == "bob"
    assert client.get_reference_by_email("finance@example.org").root[0].name == "finance"
    assert client.get_reference_by_name("Bob B").root[0].name == "bob"
    assert client.get_reference_by_name("finance", is_owner=True).root[0].type == "team"
    assert client.get_by_name(User, "bob", fields=["teams"]).teams.root[0].name == "finance"
    assert client.get_by_name(Team, "finance", fields=["users"]).users.root[0].name == "ann"
    owners = EntityReferenceList(root=[ref(made.team, "team")])
    assert client.patch_owner(Table, made.orders, owners).owners.root[0].name == "finance"
    assert client.get_team_assets("finance")["paging"]["total"] == 1
    assert client.get_user_assets("ann")["paging"]["total"] == 0


@check
def tags_and_classifications(client: OpenMetadata, made: SimpleNamespace) -> None:
    client.create_or_update(CreateClassificationRequest(name="Privacy", description="Who may see it"))
    made.tag = client.create_or_update(CreateTagRequest(classification="Privacy", name="Secret", description="Few"))
    below = client.create_or_update(
        CreateTagRequest(classification="Privacy", parent="Privacy.Secret", name="Top", description="Fewer")
    )
    assert (fqn(made.tag), fqn(below)) == ("Privacy.Secret", "Privacy.Secret.Top")
    assert below.classification.name == "Privacy" and below.parent.name == "Secret"
    assert [one.name.root for one in client.list_entities(Tag, params={"parent": "Privacy"}).entities] == [
        "Secret",
        "Top",
    ]
    label = TagLabel(tagFQN="Privacy.Secret", source="Classification", labelType="Manual", state="Confirmed")
    assert client.patch_tags(Table, made.orders, [label]).tags[0].tagFQN.root == "Privacy.Secret"
    column = ColumnTag(column_fqn=f"{SCHEMA}.daily.total", tag_label=label)
    client.patch_column_tags(client.get_by_name(Table, fqn(made.daily)), [column])
    found = client.get_by_name(Table, fqn(made.daily), fields=["columns", "tags"])
    assert [tag.tagFQN.root for tag in found.columns[1].tags] == ["Privacy.Secret"]
    assert [one["name"] for one in client.get_tag_assets("Privacy.Secret")["data"]] == ["orders"]
    client.patch_tags(Table, made.orders, [label], PatchOperation.REMOVE)
    assert client.get_tag_assets("Privacy.Secret")["data"] == []


@check
def column_descriptions(client: OpenMetadata, made: SimpleNamespace) -> None:
    told = [ColumnDescription(column_fqn=f"{SCHEMA}.orders.total", description="in cents")]
    client.patch_column_descriptions(client.get_by_name(Table, fqn(made.orders)), told)
    assert client.get_by_name(Table, fqn(made.orders)).columns[1].description.root == "in cents"


@check
def domains(client: OpenMetadata, made: SimpleNamespace) -> None:
    made.domain = client.create_or_update(
        CreateDomainRequest(name="Sales", domainType="Aggregate", description="Sold", experts=["ann"])
    )
    inner = client.create_or_update(
        CreateDomainRequest(name="Web", domainType="Aggregate", description="Shop", parent="Sales")
    )
    assert fqn(inner) == "Sales.Web" and made.domain.experts.root[0].name == "ann"
    source = client.get_by_name(Table, fqn(made.orders), fields=["domains"])
    destination = source.model_copy(deep=True)
    destination.domains = EntityReferenceList(root=[ref(made.domain, "domain")])
    client.patch(Table, source, destination)
    found = client.get_by_name(Table, fqn(made.orders), fields=["domains"])
    assert [one.name for one in found.domains.root] == ["Sales"]
    assert [one["name"] for one in client.get_domain_assets("Sales")["data"]] == ["orders"]
    request = table_request("in_domain")
    request.domains = ["Sales.Web"]
    assert client.create_or_update(request).domains.root[0].fullyQualifiedName == "Sales.Web"
    assert client.get_by_name(Domain, "Sales", fields=["children"]).children.root[0].name == "Web"


@check
def what_is_not_kept_is_refused(client: OpenMetadata, made: SimpleNamespace) -> None:
    patch = '[{"op": "add", "path": "/votes", "value": {"upVotes": 1}}]'
    refused(400, lambda: client.client.patch(f"/tables/{made.orders.id.root}", data=patch))
    assert client.get_by_name(Topic, "shop.topic") is None


@check
def etags(client: OpenMetadata, made: SimpleNamespace) -> None:
    answer = client.client.get_raw(f"/tables/{made.report.id.root}")
    source = Table(**answer.json())
    destination = source.model_copy(deep=True)
    destination.description = "one"
    tag = answer.headers["ETag"]
    assert client.patch(Table, source, destination, if_match=tag).description.root == "one"
    later = source.model_copy(deep=True)
    later.description = "two"
    refused(412, lambda: client.patch(Table, source, later, if_match=tag))
    assert client.get_by_name(Table, fqn(made.report)).description.root == "one"


@check
def metrics(client: OpenMetadata, made: SimpleNamespace) -> None:
    expression = {"language": "SQL", "code": "sum(total)"}
    made.metric = client.create_or_update(
        CreateMetricRequest(name="revenue", metricType="SUM", metricExpression=expression, granularity="DAY")
    )
    other = client.create_or_update(CreateMetricRequest(name="profit", relatedMetrics=["revenue"]))
    assert client.get_by_name(Metric, "profit", fields=["relatedMetrics"]).relatedMetrics.root[0].name == "revenue"
    edge = {"fromEntity": ref(made.daily, "table"), "toEntity": ref(made.metric, "metric")}
    edge["lineageDetails"] = {"columnsLineage": [{"fromColumns": [f"{SCHEMA}.daily.total"], "toColumn": "revenue"}]}
    client.add_lineage(AddLineageRequest.model_validate({"edge": edge}))
    stored = client.get_lineage_edge(str(made.daily.id.root), str(made.metric.id.root))["edge"]
    assert stored["columnsLineage"] == [{"fromColumns": [f"{SCHEMA}.daily.total"], "toColumn": "revenue"}], stored
    assert other.name.root == "profit"


@check
def dashboards_charts_and_models(client: OpenMetadata, made: SimpleNamespace) -> None:
    client.create_or_update(CreateDashboardServiceRequest(name="looker", serviceType="Looker"))
    made.chart = client.create_or_update(
        CreateChartRequest(name="12", displayName="Revenue", service="looker", chartType="Line")
    )
    columns = [Column(name="revenue", dataType="INT")]
    made.model = client.create_or_update(
        CreateDashboardDataModelRequest(
            name="explore", service="looker", dataModelType="LookMlExplore", columns=columns, sql="select 1"
        )
    )
    assert fqn(made.model) == "looker.model.explore"
    made.dashboard = client.create_or_update(
        CreateDashboardRequest(name="7", service="looker", charts=["looker.12"], dataModels=["looker.model.explore"])
    )
    found = client.get_by_name(Dashboard, "looker.7", fields=["charts", "dataModels"])
    assert found.charts.root[0].displayName == "Revenue" and found.dataModels.root[0].name == "explore"
    assert client.get_by_name(Chart, "looker.12").service.name == "looker"
    client.publish_dashboard_usage(made.dashboard, UsageRequest(date=date.today().isoformat(), count=3))
    assert client.get_by_name(Dashboard, "looker.7", fields=["usageSummary"]).usageSummary.dailyStats.count == 3


@check
def lineage_to_dashboards_by_column(client: OpenMetadata, made: SimpleNamespace) -> None:
    for source, target, kinds, columns in (
        (
            made.daily,
            made.model,
            ("table", "dashboardDataModel"),
            (f"{SCHEMA}.daily.total", "looker.model.explore.revenue"),
        ),
        (
            made.model,
            made.dashboard,
            ("dashboardDataModel", "dashboard"),
            ("looker.model.explore.revenue", "looker.12"),
        ),
        (made.model, made.chart, ("dashboardDataModel", "chart"), ("looker.model.explore.revenue", "looker.12")),
    ):
        edge = {"fromEntity": ref(source, kinds[0]), "toEntity": ref(target, kinds[1])}
        mapping = {"fromColumns": [columns[0]], "toColumn": columns[1]}
        edge["lineageDetails"] = {"source": "DashboardLineage", "columnsLineage": [mapping]}
        client.add_lineage(AddLineageRequest.model_validate({"edge": edge}))
        stored = client.get_lineage_edge(str(source.id.root), str(target.id.root))["edge"]
        assert stored["columnsLineage"] == [mapping], stored
    found = client.get_lineage_by_name(Dashboard, "looker.7", up_depth=3, down_depth=0)
    assert {one["name"] for one in found["nodes"]} == {"explore", "daily", "orders"}
    assert client.get_by_name(DashboardDataModel, "looker.model.explore").columns[0].name.root == "revenue"


@check
def tests_suites_and_results(client: OpenMetadata, made: SimpleNamespace) -> None:
    suite = client.get_or_create_executable_test_suite(fqn(made.orders))
    assert suite.fullyQualifiedName.root == f"{SCHEMA}.orders.testSuite"
    assert client.get_or_create_executable_test_suite(fqn(made.orders)).id == suite.id
    client.get_or_create_test_definition("not_null", "No value is missing", "COLUMN", ["OpenMetadata"])
    made.case = client.get_or_create_test_case(
        f"{SCHEMA}.orders.id.has_id", f"<#E::table::{SCHEMA}.orders::columns::id>", "not_null"
    )
    again = client.get_or_create_test_case(f"{SCHEMA}.orders.id.has_id")
    assert again.id == made.case.id
    assert [one.name for one in client.get_executable_test_suite(fqn(made.orders)).tests] == ["has_id"]
    now = int(time.time() * 1000)
    result = TestCaseResult(timestamp=now, testCaseStatus="Failed", result="3 rows", failedRows=3)
    client.add_test_case_results(result, f"{SCHEMA}.orders.id.has_id")
    (stored,) = client.get_test_case_results(f"{SCHEMA}.orders.id.has_id", now - 1000, now + 1000)
    assert stored.testCaseStatus.value == "Failed"
    assert client.get_by_name(TestCase, f"{SCHEMA}.orders.id.has_id", fields=["*"]).testCaseResult.failedRows == 3


@check
def logical_suites_and_failed_rows(client: OpenMetadata, made: SimpleNamespace) -> None:
    suite = client.get_or_create_test_suite("critical", "What must hold")
    client.add_logical_test_cases(CreateLogicalTestCases(testSuiteId=suite.id, testCaseIds=[made.case.id]))
    found = client.get_by_name(TestSuite, "critical", fields=["tests"])
    assert [one.id for one in found.tests] == [made.case.id]
    client.ingest_failed_rows_sample(made.case, TableData(columns=["id"], rows=[[None]]))
    assert client.get_failed_rows_sample(made.case).rows == [[None]]
    assert client.ingest_inspection_query(made.case, "select 1").inspectionQuery.root == "select 1"
    patched = client.patch_test_case_definition(
        made.case, made.case.entityLink.root, compute_passed_failed_row_count=True
    )
    assert patched.computePassedFailedRowCount
    client.delete_test_case(f"{SCHEMA}.orders.id.has_id", hard=True)
    assert client.get_by_name(TestCase, f"{SCHEMA}.orders.id.has_id") is None


@check
def searching(client: OpenMetadata, made: SimpleNamespace) -> None:
    Search.set_default_client(client)

    def found(query: str, **more: Any) -> set[str]:
        hits = Search.search(query, index="table_search_index", **more)["hits"]["hits"]
        return {hit["_source"]["name"] for hit in hits}

    assert found("name:orders") == {"orders"}
    assert found("name:ord*") == {"orders"}
    assert found("name:orders OR name:daily") == {"orders", "daily"}
    assert found('fullyQualifiedName:"shop.main.public.report"') == {"report"}
    assert found("public AND NOT (name:orders OR name:report)") & {"orders", "daily", "report"} == {"daily"}
    assert found("owners.name:finance") == {"orders"}
    assert found("nothing.like.it:x") == set()
    assert "orders" in Search.suggest("ord")
    hits = client.client.get("/search/suggest?q=ord&index=table_search_index")
    assert hits["suggest"]["metadata-suggest"][0]["options"]
    counted = Search.aggregate("", index="table_search_index", field="service.name.keyword")
    assert counted["aggregations"]["sterms#service.name.keyword"]["buckets"][0]["key"] == "shop"


@check
def paging_through_a_search(client: OpenMetadata, made: SimpleNamespace) -> None:
    seen = [one.name.root for one in client.paginate_es(Table, size=2)]
    assert sorted(seen) == sorted({*seen}) and "orders" in seen
    assert [one.name.root for one in client.es_search_from_fqn(Table, "shop.*.daily")] == ["daily"]
    request = table_request("aliased")
    request.aliases = ["other.main.public.aliased"]
    client.create_or_update(request)
    assert [one.name.root for one in client.es_search_from_alias(Table, "other.main.public.aliased")] == ["aliased"]


@check
def deleting_and_restoring(client: OpenMetadata, made: SimpleNamespace) -> None:
    gone = client.create_or_update(table_request("gone"))
    client.delete(Table, gone.id)
    assert client.get_by_name(Table, fqn(gone)) is None
    assert client.get_by_name(Table, fqn(gone), fields=["tags"], include="deleted").id == gone.id
    client.restore(Table, gone.id)
    assert client.get_by_name(Table, fqn(gone)).id == gone.id
    client.delete(Table, gone.id, hard_delete=True)
    assert client.get_by_name(Table, fqn(gone), fields=["tags"], include="all") is None


def main() -> int:
    """Runs all checks; the number of the failed ones is printed."""
    client, made = connected(sys.argv[1]), SimpleNamespace(run=uuid.uuid4())
    failed = 0
    for one in CHECKS:
        try:
            one(client, made)
        except Exception:  # noqa: BLE001 — each check by itself
            failed += 1
            print(f"FAILED {one.__name__}\n{traceback.format_exc(limit=-3)}")
        else:
            print(f"ok     {one.__name__}")
    print(f"{len(CHECKS) - failed} of {len(CHECKS)} checks passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
