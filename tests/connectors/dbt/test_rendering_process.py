"""Templates are rendered in a process that can be killed, by dbt's rules, and reach nothing outside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from connectors.dbt._macros import macros_in
from connectors.dbt._rendering_process import RenderedModel, RenderingProcess
from connectors.dbt._template_scope import TemplateNode, TemplateScope, TemplateSource
from ingestion.parsing.sandbox.process import Limits

MODEL = "model.shop.m"
WATCHED = {"meta": {"watched": "{{ this }}"}}


@pytest.fixture(scope="module")
def process() -> Iterator[RenderingProcess]:
    with RenderingProcess(Limits(seconds=2)) as process:
        yield process


def scope(macros: str = "", **more: Any) -> TemplateScope:
    nodes = (
        TemplateNode(
            MODEL, "model", "m", "shop", layers=({"materialized": "incremental"},), relation_key=("d", "s", "m")
        ),
        TemplateNode("model.shop.a", "model", "a", "shop", relation_key=("d", "s", "a"), config=WATCHED),
        TemplateNode("model.shop.p.v1", "model", "p", "shop", "1", latest=False, relation_key=("d", "s", "p_v1")),
        TemplateNode("model.shop.p.v2", "model", "p", "shop", "2", relation_key=("d", "s", "p_v2")),
        TemplateNode("model.tools.p", "model", "p", "tools", relation_key=("d", "tools", "p")),
        TemplateNode("model.shop.e", "model", "e", "shop", relation_key=("", "", "e"), materialized="ephemeral"),
    )
    sources = (TemplateSource("source.shop.till.t", "shop", "till", "t", ("", "{{ var('home') }}", "raw_t")),)
    target = {"name": "dev", "type": "redshift", "schema": "s", "database": "d"}
    given: dict[str, Any] = {"variables": {"home": "raw", "shop": {"only_here": 3}}, "dispatch": {}, **more}
    blocks = (*macros_in(macros.partition("---")[0], "shop"), *macros_in(macros.partition("---")[2], "tools"))
    return TemplateScope("shop", "postgres", target, macros=blocks, nodes=nodes, sources=sources, **given)


def rendered(process: RenderingProcess, text: str, macros: str = "", **more: Any) -> RenderedModel:
    return process.render(scope(macros, **more), {MODEL: text})[MODEL]


RENDERED: Mapping[str, tuple[str, str]] = {
    "a ref": ("select 1 from {{ ref('a') }}", 'select 1 from "d"."s"."a"'),
    "the latest version": ("{{ ref('p') }}", '"d"."s"."p_v2"'),
    "a version": ("{{ ref('p', v=1) }}", '"d"."s"."p_v1"'),
    "another package's": ("{{ ref('tools', 'p') }}", '"d"."tools"."p"'),
    "a source whose schema is a variable": ("{{ source('till', 't') }}", '"d"."raw"."raw_t"'),
    "an ephemeral model": ("{{ ref('e') }}", "__dbt__cte__e"),
    "this": ("{{ this }} {{ this.schema }}.{{ this.identifier }}", '"d"."s"."m" s.m'),
    "a variable": ("{{ var('only_here') }} {{ var('none', 'x') }}", "3 x"),
    "an environment's default": ("{{ env_var('HOME', 'default') }}", "default"),
    "the target": ("{{ target.name }} {{ target.type }}", "dev redshift"),
    "config is silent": ("{{ config(materialized='table') }}{{ config.get('materialized') }}", "table"),
    "do, set and loops": ("{% set l = [] %}{% do l.append(1) %}{% for x in l + [2] %}{{ x }}{% endfor %}", "12"),
    "modules": ("{{ modules.datetime.date(2026, 1, 2) }} {{ modules.re.sub('a', 'b', 'cat') }}", "2026-01-02 cbt"),
    "dbt's own macros": ("{{ dbt.date_trunc('day', 'at') }} {{ dbt.type_string() }}", "date_trunc('day', at) varchar"),
    "range": ("{% for n in range(2) %}{{ n }}{% endfor %}", "01"),
    "a comment": ("{# nothing #}x", "x"),
    "a relation": ("{{ api.Relation.create(schema='x', identifier='y') }}", '"x"."y"'),
    "the graph's nodes": (
        "{% for n in graph.nodes.values() | sort(attribute='name') if n.package_name == 'tools' %}"
        "{{ n.schema }}.{{ n.alias }} {{ n.resource_type }}{% endfor %}",
        "tools.p model",
    ),
    "a node's config": ("{{ graph['nodes']['model.shop.m'].config.get('materialized') }}", "incremental"),
    "a config of a node's text": ("{{ graph.nodes['model.shop.a'].config.meta.watched }}", "{{ this }}"),
    "the graph's sources": ("{{ graph.sources['source.shop.till.t'].schema }}", "raw"),
    "all is selected": ("{{ 'model.shop.a' in selected_resources }}", "True"),
    "a column of its own": ("{{ api.Column('a', 'int').quoted }}{{ api.Column.translate_type('date') }}", '"a"date'),
    "execute": ("{% if execute %}a{% else %}b{% endif %}", "a"),
}


@pytest.mark.parametrize("case", RENDERED)
def test_dbts_names_mean_what_they_mean_in_dbt(case: str, process: RenderingProcess) -> None:
    text, expected = RENDERED[case]
    assert rendered(process, text).texts == (expected,)


MACROS = """
{% macro cents(c) %}({{ c }} / 100){% endmacro %}
{% macro pick() %}{{ return([1, 2]) }}{% endmacro %}
{% macro wrapped() %}<{{ caller() }}>{% endmacro %}
{% macro redshift__kind() %}mine{% endmacro %}
---
{% macro outer(c) %}{{ inner(c) }}{% endmacro %}
{% macro inner(c) %}i({{ c }}){% endmacro %}
{% macro _hidden() %}h{% endmacro %}
{% macro alone() %}{{ adapter.dispatch('alone', 'macros')() }}{% endmacro %}
{% macro default__alone() %}from here{% endmacro %}
{% macro kind() %}{{ return(adapter.dispatch('kind', 'tools')()) }}{% endmacro %}
{% macro default__kind() %}default{% endmacro %}
{% macro size() %}{{ adapter.dispatch('size', 'tools')() }}{% endmacro %}
{% macro default__size() %}default{% endmacro %}
{% macro postgres__size() %}of the parent{% endmacro %}
"""
CALLED = {
    "the project's": ("{{ cents('x') }}", "(x / 100)"),
    "a value": ("{% for n in pick() %}{{ n }};{% endfor %}", "1;2;"),
    "a caller": ("{% call wrapped() %}x{% endcall %}", "<x>"),
    "a package's, which sees its own": ("{{ tools.outer('x') }}", "i(x)"),
    "a hidden one": ("{{ tools._hidden() }}", "h"),
    "dispatch prefers the project": ("{{ tools.kind() }}", "mine"),
    "dispatch in a name that no package has": ("{{ tools.alone() }}", "from here"),
    "dispatch knows what an adapter descends from": ("{{ tools.size() }}", "of the parent"),
}


@pytest.mark.parametrize("case", CALLED)
def test_macros_are_found_where_dbt_finds_them(case: str, process: RenderingProcess) -> None:
    text, expected = CALLED[case]
    assert rendered(process, text, MACROS).texts == (expected,)


def test_an_incremental_model_is_rendered_both_ways(process: RenderingProcess) -> None:
    text = "select 1{% if is_incremental() %} from {{ this }}{% endif %}"
    assert rendered(process, text).texts == ("select 1", 'select 1 from "d"."s"."m"')
    table = process.render(scope(), {"model.shop.a": text})["model.shop.a"]
    assert table.texts == ("select 1",)


def test_what_a_model_reads_is_known_by_id(process: RenderingProcess) -> None:
    found = rendered(process, "{{ ref('a') }} {{ ref('e') }} {{ source('till', 't') }} {{ ref('a') }}")
    assert found.read == ("model.shop.a", "model.shop.e", "source.shop.till.t")
    assert found.ephemeral == ("model.shop.e",)


REFUSED = {
    "a query": ("a\n{{ run_query('select secret') }}", 2, "run_query asks the warehouse"),
    "a query behind execute": ("{% if execute %}\n{% set r = run_query('x') %}{% endif %}", 2, "run_query asks"),
    "a statement": ("{% call statement('s') %}x{% endcall %}", 1, "statement asks the warehouse"),
    "the adapter": ("\n\n{{ adapter.get_relation('a', 'b', 'c') }}", 3, "adapter.get_relation asks the warehouse"),
    "columns": ("{{ adapter.get_columns_in_relation(this) }}", 1, 'which columns has "d"."s"."m" asks the warehouse'),
    "a missing package": ("x\n{{ nobody.star() }}", 2, "'nobody' is undefined"),
    "a missing macro of a package": ("{{ tools.nothing() }}", 1, "there is no 'nothing'"),
    "a missing name printed": ("{{ nobody }}", 1, "'nobody' is undefined"),
    "a part of the graph": ("{{ graph.metrics | length }}", 1, "graph.metrics is not known without dbt"),
    "what a node depends on": (
        "\n{{ graph.nodes[model.unique_id].depends_on.nodes }}",
        2,
        "depends_on of a node is not known without dbt",
    ),
    "a missing list": ("{% for x in nobody %}{{ x }}{% endfor %}", 1, "'nobody' is undefined"),
    "no such model": ("{{ ref('nobody') }}", 1, "ref to nobody, which is no model here"),
    "no such source": ("{{ source('till', 'x') }}", 1, "source till.x, which no file here describes"),
    "a variable without a value": ("{{ var('nobody') }}", 1, "var nobody is given nowhere"),
    "the environment": ("{{ env_var('HOME') }}", 1, "env_var HOME has no default"),
    "an error of its own": ("{{ exceptions.raise_compiler_error('secret') }}", 1, "the project itself refuses it"),
    "no Jinja": ("a\n{% if %}", 2, "not valid Jinja"),
    "a return of its own": ("x\n{{ return(1) }}", 2, "return is called outside of a macro"),
    "another file": ("{% include '/etc/passwd' %}", 1, "TypeError"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_known_is_named_with_its_line(case: str, process: RenderingProcess) -> None:
    text, line, reason = REFUSED[case]
    found = rendered(process, text, MACROS)
    assert (found.texts, found.line) == ((), line)
    assert reason in found.reason
    assert "secret" not in found.reason


ATTACKS = {
    "classes": "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "globals of a function": "{{ ref.__globals__ }}",
    "globals of a macro": "{{ cents.__call__.__globals__ }}",
    "the library behind a macro": "{{ cents._library }}",
    "a module's imports": "{{ modules.re.sys }}",
    "what a class was made with": "{{ modules.datetime.datetime.__init__.__globals__ }}",
    "a format": "{{ '{0.__class__}'.format(ref) }}",
    "the environment of a template": "{{ self._TemplateReference__context }}",
    "built-ins": "{{ open('/etc/passwd').read() }}",
    "import": "{{ __import__('os') }}",
    "attributes by filter": "{{ ref | attr('__globals__') }}",
    "yaml that makes objects": "{{ fromyaml('!!python/object/apply:os.getcwd []') }}{{ nobody }}",
}


@pytest.mark.parametrize("case", ATTACKS)
def test_a_template_reaches_nothing_outside(case: str, process: RenderingProcess) -> None:
    found = rendered(process, ATTACKS[case], MACROS)
    assert found.texts == ()
    assert found.reason


ENDLESS = {
    "loops for ever": (
        "{% macro f(n) %}{% for x in range(99999) %}{% for y in range(99999) %}{% endfor %}{% endfor %}{% endmacro %}",
        "{{ f(1) }}",
        "overruns its time",
    ),
    "allocates without end": ("", "{{ 'x' * 4000000000 }}", "overruns its memory"),
    "fills a list": ("", "{% set l = ['x' * 1000000] %}{{ (l * 5000) | join }}", "overruns its memory"),
    "counts on": ("", "{{ modules.itertools.chain(range(9)) | list }}{{ range(10 ** 9) | list }}", "OverflowError"),
    "calls itself": ("{% macro f() %}{{ f() }}{% endmacro %}", "{{ f() }}", "cannot be rendered"),
}


@pytest.mark.parametrize("case", ENDLESS)
def test_what_never_ends_costs_its_own_model_alone(case: str, process: RenderingProcess) -> None:
    macros, text, reason = ENDLESS[case]
    found = process.render(scope(macros), {"model.shop.a": "before", MODEL: text, "model.tools.p": "after"})
    assert found["model.shop.a"].texts == ("before",)
    assert found[MODEL].reason == reason
    assert found["model.tools.p"].texts == ("after",)


def test_nothing_of_a_scope_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with RenderingProcess(Limits(seconds=2)) as process:
        assert process.render(scope(), {MODEL: "x"})[MODEL].texts == ("x",)
    assert list(tmp_path.iterdir()) == []


def test_a_config_counts_from_the_project_down_to_the_file(process: RenderingProcess) -> None:
    node = TemplateNode("model.shop.n", "model", "n", "shop", layers=({"schema": "marts", "tags": "a"}, {"alias": "b"}))
    scope = TemplateScope("shop", "postgres", {"schema": "s", "database": "d"}, nodes=(node,))
    found = process.configure(scope, {"model.shop.n": "{{ config(alias='c') }} {{ run_query('x') }}"})["model.shop.n"]
    assert found.relation_key == ("d", "s_marts", "c")
    assert found.config == {"schema": "marts", "tags": "a", "alias": "c"}


def test_a_rule_of_schemas_that_asks_the_warehouse_costs_no_config(process: RenderingProcess) -> None:
    for rule, schema in (
        ("{{ generate_schema_name_for_env(custom, node) }}", "s"),
        ("{{ run_query('x') }}", "s_marts"),
    ):
        macro = "{% macro generate_schema_name(custom, node) %}" + rule + "{% endmacro %}"
        node = TemplateNode("model.shop.n", "model", "n", "shop", layers=({"schema": "marts"},))
        macros = tuple(macros_in(macro, "shop"))
        scope = TemplateScope("shop", "postgres", {"name": "dev", "schema": "s"}, macros=macros, nodes=(node,))
        found = process.configure(scope, {"model.shop.n": "{{ config(materialized='ephemeral') }}"})["model.shop.n"]
        assert found.relation_key == ("", schema, "n")
        assert found.config["materialized"] == "ephemeral"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("{% macro a() %}1{% endmacro %} {%- macro b() -%}2{%- endmacro -%}", ["a", "b"]),
        ("{# {% macro a() %}1{% endmacro %} #}{% macro b() %}2{% endmacro %}", ["b"]),
        ("{% macro a() %}1{% endmacro %}{# {% macro b() %}2{% endmacro %}", ["a", "b"]),
        ("{% macro a() %}1{% endmacro %}{% macro b() %}2", ["a"]),
        ("{% macro a", []),
    ],
)
def test_the_macros_of_a_file_are_its_blocks_that_end(text: str, names: list[str]) -> None:
    assert [macro.name for macro in macros_in(text, "shop")] == names


def test_the_projects_own_rule_of_schemas_holds(process: RenderingProcess) -> None:
    rule = "{% macro generate_schema_name(custom, node) %}  {{ custom or target.schema }}  {% endmacro %}"
    node = TemplateNode("model.shop.n", "model", "n", "shop", layers=({"schema": "marts"},))
    scope = TemplateScope("shop", "postgres", {"schema": "s"}, macros=tuple(macros_in(rule, "shop")), nodes=(node,))
    assert process.configure(scope, {"model.shop.n": "x"})["model.shop.n"].relation_key == ("", "marts", "n")
