"""The macros that dbt brings along for every warehouse, written for what they read and not for how it is computed.

The names and parameters are dbt's documented ones. Where warehouses differ in no more than the order of arguments,
one form stands for all: the columns that go in are the same.
"""

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
