"""A small Power BI project: a model over two databases, and a report in the form of a file for each visual."""

from __future__ import annotations

import json

_MODEL = "Sales.SemanticModel/definition"
_REPORT = "Sales.Report"
_PAGE = f"{_REPORT}/definition/pages/p1"


def column(entity: str, name: str, function: int | None = None) -> dict[str, object]:
    """A column as a visual names it, with the number of an aggregate."""
    field = {"Column": {"Expression": {"SourceRef": {"Entity": entity}}, "Property": name}}
    return field if function is None else {"Aggregation": {"Expression": field, "Function": function}}


def measure(name: str) -> dict[str, object]:
    """A measure as a visual names it."""
    return {"Measure": {"Expression": {"SourceRef": {"Entity": "Orders"}}, "Property": name}}


def visual(name: str, kind: str, fields: list[dict[str, object]], **rest: object) -> str:
    """The file of a visual that shows these fields."""
    state = {"Values": {"projections": [{"field": one} for one in fields]}}
    inner: dict[str, object] = {"visualType": kind, "query": {"queryState": state if fields else {}}}
    inner["visualContainerObjects"] = rest.pop("objects", {})
    return json.dumps({"name": name, "visual": inner, **rest})


TITLE = {"title": [{"properties": {"text": {"expr": {"Literal": {"Value": "'Sales by region'"}}}}}]}
FILTER = {"filters": [{"name": "f", "field": column("Orders", "Placed"), "filter": {"Where": [{"Value": "'sesame'"}]}}]}

FILES = {
    f"{_MODEL}/model.tmdl": "model Model\n\tculture: en-US\n\nref table Orders\nref table 'Who''s Who'\n",
    f"{_MODEL}/expressions.tmdl": (
        'expression Server = "secret.example" meta [IsParameterQuery=true, Type="Text"]\n'
        "\tlineageTag: 1\n\n"
        'expression Database = "shopdb" meta [IsParameterQuery=true, Type="Text"]\n\n'
        "expression Cities =\n"
        "\t\tlet\n"
        "\t\t    Source = Sql.Database(Server, Database),\n"
        '\t\t    #"All Cities" = Source{[Schema="shop",Item="cities"]}[Data]\n'
        "\t\tin\n"
        '\t\t    #"All Cities"\n'
        "\tlineageTag: 2\n"
    ),
    f"{_MODEL}/relationships.tmdl": (
        "relationship r1\n\tfromColumn: Orders.'Customer Id'\n\ttoColumn: 'Who''s Who'.Id\n\n"
        "relationship r2\n\tisActive: false\n\tfromColumn: Orders.Placed\n\ttoColumn: 'Who''s Who'.Id\n"
    ),
    f"{_MODEL}/tables/Orders.tmdl": (
        "/// What was sold\n"
        "table Orders\n\tlineageTag: 3\n\n"
        "\tmeasure Total = SUM(Orders[Net])\n\t\tformatString: #,0\n\n"
        "\tmeasure 'Total of VIPs' = ```\n"
        "\t\t\tVAR vips = FILTER('Who''s Who', 'Who''s Who'[Kind] = \"vip\")\n"
        "\t\t\tRETURN\n"
        "\t\t\t    CALCULATE([Total], vips)\n"
        "\t\t\t```\n\n"
        "\tcolumn 'Customer Id'\n\t\tdataType: int64\n\t\tsourceColumn: customer_id\n\n"
        "\tcolumn Placed\n\t\tdataType: dateTime\n\t\tsourceColumn: placed\n\n"
        "\tcolumn Gross\n\t\tdataType: double\n\t\tsourceColumn: Gross\n\n"
        "\tcolumn City\n\t\tdataType: string\n\t\tsourceColumn: City.name\n\n"
        "\tcolumn Net = Orders[Gross] - RELATED('Who''s Who'[Rebate])\n\t\tdataType: double\n\n"
        "\thierarchy Days\n\t\tlevel Day\n\t\t\tcolumn: Placed\n\n"
        "\tpartition Orders = m\n\t\tmode: import\n\t\tsource =\n"
        "\t\t\t\tlet\n"
        "\t\t\t\t    Source = Sql.Database(Server, Database),\n"
        '\t\t\t\t    orders = Source{[Schema="shop",Item="orders"]}[Data],\n'
        '\t\t\t\t    paid = Table.SelectRows(orders, each [state] = "sesame"),\n'
        '\t\t\t\t    named = Table.RenameColumns(paid, {{"total", "Gross"}}),\n'
        '\t\t\t\t    #"Merged" = Table.NestedJoin(named, {"city_id"}, Cities, {"id"}, "City", JoinKind.LeftOuter),\n'
        '\t\t\t\t    #"Expanded" = Table.ExpandTableColumn(#"Merged", "City", {"name"}, {"City.name"})\n'
        "\t\t\t\tin\n"
        '\t\t\t\t    #"Expanded"\n\n'
        "\tannotation PBI_ResultType = Table\n"
    ),
    f"{_MODEL}/tables/Who.tmdl": (
        "table 'Who''s Who'\n\n"
        "\tcolumn Id\n\t\tsourceColumn: id\n\n"
        "\tcolumn Kind\n\t\tsourceColumn: kind\n\n"
        "\tcolumn Rebate\n\t\tsourceColumn: rebate\n\n"
        "\tpartition Who = m\n\t\tsource = Value.NativeQuery(Sql.Database(Server, Database), "
        "\"select id, kind, rebate#(lf)from shop.customers where kind <> 'sesame'\", null, [EnableFolding=true])\n"
    ),
    f"{_MODEL}/tables/Auto.tmdl": (
        "table LocalDateTable_1\n\tisHidden\n\n\tcolumn Date\n\t\tsourceColumn: [Date]\n\n"
        "\tpartition LocalDateTable_1 = calculated\n\t\tsource = Calendar(MIN('Orders'[Placed]), TODAY())\n"
    ),
    f"{_REPORT}/definition.pbir": json.dumps(
        {"version": "4.0", "datasetReference": {"byPath": {"path": "../Sales.SemanticModel"}}}
    ),
    f"{_REPORT}/definition/report.json": json.dumps({"filterConfig": FILTER}),
    f"{_REPORT}/StaticResources/theme.json": "{",
    f"{_PAGE}/page.json": json.dumps({"name": "p1", "displayName": "Overview"}),
    f"{_PAGE}/visuals/v1/visual.json": visual(
        "v1", "pieChart", [column("Who's Who", "Kind"), measure("Total")], objects=TITLE
    ),
    f"{_PAGE}/visuals/v2/visual.json": visual("v2", "card", [column("Orders", "Gross", 1)]),
    f"{_PAGE}/visuals/v3/visual.json": visual("v3", "textbox", []),
    f"{_PAGE}/visuals/v4/visual.json": visual("v4", "card", [measure("Gone")]),
}
