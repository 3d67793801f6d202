{#-
    Append rows to an `ops` table in one commit, with the current time as last column if
    `are_stamped`; does nothing without rows. In the dbt of `ingest serve` the driver writes them
    without Spark.
-#}
{% macro insert_rows(name, rows, are_stamped=false) -%}
    {%- set now = modules.datetime.datetime.now(modules.pytz.utc) -%}
    {%- set stamped = [] -%}
    {%- for row in rows -%}{%- do stamped.append(row + ([now] if are_stamped else [])) -%}{%- endfor -%}
    {%- if rows and not (driver_state() and driver_state().append(name, stamped)) -%}
        {%- set texts = [] -%}
        {%- for row in rows -%}
            {%- set values = [] -%}
            {%- for value in row -%}
                {#- dbt's times are in UTC, without a time zone. -#}
                {%- do values.append("timestamp'" ~ value.isoformat() ~ "Z'"
                    if value.isoformat is defined else sql_literal(value)) -%}
            {%- endfor -%}
            {#- The server's time: its clock may differ. -#}
            {%- if are_stamped -%}{%- do values.append('current_timestamp()') -%}{%- endif -%}
            {%- do texts.append('(' ~ values | join(', ') ~ ')') -%}
        {%- endfor -%}
        {%- do run_query('insert into ops.' ~ name ~ ' values ' ~ texts | join(', ')) -%}
    {%- endif -%}
{%- endmacro %}
