{#-
    Append rows of SQL literals to a table in one commit; nothing for no rows.
-#}
{% macro insert_rows(table, rows) -%}
    {%- if rows -%}
        {%- set texts = [] -%}
        {%- for row in rows -%}{%- do texts.append('(' ~ row | join(', ') ~ ')') -%}{%- endfor -%}
        {%- do run_query('insert into ' ~ table ~ ' values ' ~ texts | join(', ')) -%}
    {%- endif -%}
{%- endmacro %}
