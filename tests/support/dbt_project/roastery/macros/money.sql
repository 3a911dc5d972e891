{% macro in_units(column) -%}
    {{ measures.rounded(column ~ ' / 100.0') }}
{%- endmacro %}

{% macro summed(columns) -%}
    {%- for column in columns %}
    sum({{ column }}) as total_{{ column }}{{ "," if not loop.last }}
    {%- endfor -%}
{%- endmacro %}
