"""Macros: what dbt brings along, where a name is looked for, which variant an adapter has, what a call gives."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from types import CodeType
from typing import Any

import jinja2

from connectors.dbt._template_scope import TemplateMacro
from connectors.dbt._template_values import NotRenderable

# The macros that dbt brings along for every warehouse, written for what they read and not for how it is computed.
#
# The names and parameters are dbt's documented ones. Where warehouses differ in no more than the order of arguments,
# one form stands for all: the columns that go in are the same.

DBTS_MACROS = """
{% macro any_value(expression) %}any_value({{ expression }}){% endmacro %}
{% macro array_append(array, new_element) %}array_append({{ array }}, {{ new_element }}){% endmacro %}
{% macro array_concat(array_1, array_2) %}array_cat({{ array_1 }}, {{ array_2 }}){% endmacro %}
{% macro array_construct(inputs=[], data_type=none) %}array[{{ inputs | join(', ') }}]{% endmacro %}
{% macro bool_or(expression) %}bool_or({{ expression }}){% endmacro %}
{% macro cast(field, type) %}cast({{ field }} as {{ type }}){% endmacro %}
{% macro cast_bool_to_text(field) %}cast({{ field }} as {{ type_string() }}){% endmacro %}
{% macro concat(fields) %}{{ fields | join(' || ') }}{% endmacro %}
{% macro current_timestamp() %}current_timestamp{% endmacro %}
{% macro current_timestamp_in_utc() %}current_timestamp{% endmacro %}
{% macro current_timestamp_backcompat() %}current_timestamp{% endmacro %}
{% macro date(year, month, day) %}cast('{{ year }}-{{ month }}-{{ day }}' as date){% endmacro %}
{% macro date_trunc(datepart, date) -%}
{%- if target.type == 'bigquery' %}timestamp_trunc(cast({{ date }} as timestamp), {{ datepart }})
{%- else %}date_trunc('{{ datepart }}', {{ date }}){% endif -%}
{% endmacro %}
{% macro dateadd(datepart, interval, from_date_or_timestamp) -%}
{%- if target.type == 'bigquery' -%}
datetime_add(cast({{ from_date_or_timestamp }} as datetime), interval {{ interval }} {{ datepart }})
{%- elif target.type in ('snowflake', 'redshift', 'databricks', 'spark', 'sqlserver', 'fabric', 'synapse') -%}
dateadd({{ datepart }}, {{ interval }}, {{ from_date_or_timestamp }})
{%- else -%}
({{ from_date_or_timestamp }} + (interval '1 {{ datepart }}' * ({{ interval }})))
{%- endif -%}
{% endmacro %}
{% macro datediff(first_date, second_date, datepart) -%}
{%- if target.type == 'bigquery' -%}
datetime_diff(cast({{ second_date }} as datetime), cast({{ first_date }} as datetime), {{ datepart }})
{%- elif target.type in ('snowflake', 'redshift', 'databricks', 'spark', 'sqlserver', 'fabric', 'synapse') -%}
datediff({{ datepart }}, {{ first_date }}, {{ second_date }})
{%- else -%}
date_diff('{{ datepart }}', {{ first_date }}, {{ second_date }})
{%- endif -%}
{% endmacro %}
{% macro equals(expr1, expr2) -%}
(({{ expr1 }} = {{ expr2 }}) or ({{ expr1 }} is null and {{ expr2 }} is null))
{%- endmacro %}
{% macro escape_single_quotes(expression) %}{{ expression | replace("'", "''") }}{% endmacro %}
{% macro except() %}except{% endmacro %}
{% macro generate_schema_name_for_env(custom_schema_name, node=none) -%}
{{ custom_schema_name if target.name == 'prod' and custom_schema_name else target.schema }}
{%- endmacro %}
{% macro default__generate_schema_name(custom_schema_name, node=none) -%}
{{ target.schema }}{{ '_' ~ custom_schema_name if custom_schema_name }}
{%- endmacro %}
{% macro hash(field) %}md5(cast({{ field }} as {{ type_string() }})){% endmacro %}
{% macro intersect() %}intersect{% endmacro %}
{% macro last_day(date, datepart) %}last_day({{ date }}){% endmacro %}
{% macro length(expression) %}length({{ expression }}){% endmacro %}
{% macro listagg(measure, delimiter_text="','", order_by_clause=none, limit_num=none) -%}
{%- if target.type in ('snowflake', 'redshift') -%}
listagg({{ measure }}, {{ delimiter_text }}){% if order_by_clause %} within group ({{ order_by_clause }}){% endif %}
{%- else -%}
string_agg({{ measure }}, {{ delimiter_text }}{% if order_by_clause %} {{ order_by_clause }}{% endif %})
{%- endif -%}
{% endmacro %}
{% macro position(substring_text, string_text) %}position({{ substring_text }} in {{ string_text }}){% endmacro %}
{% macro replace(field, old_chars, new_chars) %}replace({{ field }}, {{ old_chars }}, {{ new_chars }}){% endmacro %}
{% macro right(string_text, length_expression) %}right({{ string_text }}, {{ length_expression }}){% endmacro %}
{% macro safe_cast(field, type) -%}
{%- if target.type == 'bigquery' %}safe_cast({{ field }} as {{ type }})
{%- elif target.type in ('snowflake', 'databricks', 'duckdb') %}try_cast({{ field }} as {{ type }})
{%- else %}cast({{ field }} as {{ type }}){% endif -%}
{% endmacro %}
{% macro split_part(string_text, delimiter_text, part_number) -%}
{%- if target.type == 'bigquery' %}split({{ string_text }}, {{ delimiter_text }})[safe_offset({{ part_number }} - 1)]
{%- else %}split_part({{ string_text }}, {{ delimiter_text }}, {{ part_number }}){% endif -%}
{% endmacro %}
{% macro string_literal(value) %}'{{ value }}'{% endmacro %}
{% macro type_bigint() %}{{ 'int64' if target.type == 'bigquery' else 'bigint' }}{% endmacro %}
{% macro type_boolean() %}{{ 'bool' if target.type == 'bigquery' else 'boolean' }}{% endmacro %}
{% macro type_float() %}{{ 'float64' if target.type == 'bigquery' else 'float' }}{% endmacro %}
{% macro type_int() %}{{ 'int64' if target.type == 'bigquery' else 'int' }}{% endmacro %}
{% macro type_numeric() %}{{ 'numeric' if target.type == 'bigquery' else 'numeric(28, 6)' }}{% endmacro %}
{% macro type_string() -%}
{{ 'string' if target.type in ('bigquery', 'spark', 'databricks') else 'varchar' }}
{%- endmacro %}
{% macro type_timestamp() %}timestamp{% endmacro %}
"""


# Where a macro's name is looked for, which variant an adapter has, and what a call gives.

DBT = "dbt"
"""The package of what dbt brings along itself."""

_PARENTS: Mapping[str, str] = {
    "redshift": "postgres",
    "databricks": "spark",
    "materialize": "postgres",
    "fabric": "sqlserver",
    "synapse": "sqlserver",
    "risingwave": "postgres",
}
# After one that has no end none has: the rest of the text is taken at once.
_COMMENT = re.compile(r"\{#[\s\S]*?#\}|(\{#[\s\S]*+)")
_MACRO = re.compile(
    r"\{%-?\s*+macro\s++(\w++)(?:[\s\S]*?\{%-?\s*+endmacro\s*+-?%\}|(?P<without_end>[\s\S]*+))",
)

Globals = Callable[[str], dict[str, Any]]
"""The names that templates of a package see."""


class _Returned(NotRenderable):
    """What `return` was given."""

    def __init__(self, value: Any) -> None:
        super().__init__("return is called outside of a macro")
        self.value = value


def hand_back(value: Any = None) -> None:
    """dbt's `return`."""
    raise _Returned(value)


def macros_in(text: str, package: str, file: str = "") -> list[TemplateMacro]:
    """The macro blocks of the text of a `file`; what stands around them is nothing to dbt either."""
    plain = _COMMENT.sub(r"\1", text)
    blocks = (match for match in _MACRO.finditer(plain) if match["without_end"] is None)
    return [TemplateMacro(package, match[1], match.group(), file) for match in blocks]


class MacroLibrary:
    """All macros of a project and its packages, compiled when they are first needed."""

    def __init__(self, environment: jinja2.Environment, macros: Iterable[TemplateMacro]) -> None:
        self._environment = environment
        by_name = {(macro.package, macro.name): macro for macro in macros}
        self._texts = {key: macro.text for key, macro in by_name.items()}
        self._files = {key: macro.file for key, macro in by_name.items()}
        self._code: dict[tuple[str, str], CodeType] = {}
        self.packages: dict[str, list[str]] = {}
        for package, name in self._texts:
            self.packages.setdefault(package, []).append(name)

    def has(self, package: str, name: str) -> bool:
        return (package, name) in self._texts

    def file(self, package: str, name: str) -> str:
        """The file of a macro, "" where it is not known."""
        return self._files.get((package, name), "")

    def macro(self, package: str, name: str, names: dict[str, Any]) -> Callable[..., Any]:
        """A macro that sees these names."""
        key = package, name
        if key not in self._code:
            self._code[key] = self._environment.compile(self._texts[key], name, f"{package}.{name}")
        template = jinja2.Template.from_code(self._environment, self._code[key], names)
        context = template.new_context()
        for _text in template.root_render_func(context):  # not its `module`, which lacks names that begin with _
            pass
        found: Callable[..., Any] = context.vars[name]
        return found


class MacroName:
    """A macro as a template sees it: it can be called."""

    def __init__(self, library: MacroLibrary, package: str, name: str, names: Globals) -> None:
        self._library, self._package, self._name, self._names = library, package, name, names

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the macro gives: what it returns, else its text."""
        try:
            return self._library.macro(self._package, self._name, self._names(self._package))(*args, **kwargs)
        except _Returned as returned:
            return returned.value


def dispatch(library: MacroLibrary, names: Globals, name: str, searched: Iterable[str], adapter: str) -> MacroName:
    """The variant of a macro for an adapter, from the first of the packages that has one. Raises NotRenderable."""
    prefixes = [adapter]
    while prefixes[-1] in _PARENTS:
        prefixes.append(_PARENTS[prefixes[-1]])
    for package in dict.fromkeys(searched):
        for prefix in (*prefixes, "default"):
            if library.has(package, f"{prefix}__{name}"):
                return MacroName(library, package, f"{prefix}__{name}", names)
    raise NotRenderable(f"no package here has the macro {name} for {adapter or 'this adapter'}: run dbt deps")
