{% macro rounded(column) %}{{ return(adapter.dispatch('rounded', 'measures')(column)) }}{% endmacro %}

{% macro default__rounded(column) %}round({{ column }}, {{ var('digits', 0) }}){% endmacro %}

{% macro bigquery__rounded(column) %}round(cast({{ column }} as numeric), 2){% endmacro %}
