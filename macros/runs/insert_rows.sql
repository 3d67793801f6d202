{#-
    Append rows of values to a table of bookkeeping in one commit, with the time at last where they
    are stamped; nothing for no rows. What `ingest serve` builds it writes down itself, without
    Spark.
-#}
{% macro insert_rows(name, rows, are_stamped=false) -%}
    {%- set now = modules.datetime.datetime.now(modules.pytz.utc) -%}
    {%- set stamped = [] -%}
    {%- for row in rows -%}{%- do stamped.append(row + ([now] if are_stamped else [])) -%}{%- endfor -%}
    {%- if rows and not (driver_facts() and driver_facts().append(name, stamped)) -%}
        {%- set texts = [] -%}
        {%- for row in rows -%}
            {%- set values = [] -%}
            {%- for value in row -%}
                {#- dbt's times are in UTC, without saying so. -#}
                {%- do values.append("timestamp'" ~ value.isoformat() ~ "Z'"
                    if value.isoformat is defined else sql_literal(value)) -%}
            {%- endfor -%}
            {#- Of the server, whose clock may differ. -#}
            {%- if are_stamped -%}{%- do values.append('current_timestamp()') -%}{%- endif -%}
            {%- do texts.append('(' ~ values | join(', ') ~ ')') -%}
        {%- endfor -%}
        {%- do run_query('insert into ops.' ~ name ~ ' values ' ~ texts | join(', ')) -%}
    {%- endif -%}
{%- endmacro %}
