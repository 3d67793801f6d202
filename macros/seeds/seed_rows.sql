{#-
    A seed's rows as escaped SQL literals, each cast to its column's type.
-#}
{% macro seed_rows(model, agate_table, rows) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- for row in rows %}
        ({%- for name in agate_table.column_names -%}
            cast({{ sql_literal(row[name]) }} as {{
                types.get(name, adapter.convert_type(agate_table, loop.index0))
            }}){{ ', ' if not loop.last }}
        {%- endfor -%}){{ ',' if not loop.last }}
    {%- endfor %}
{%- endmacro %}
