{#-
    Insert the seed's rows that the table was not created with.
-#}
{% macro spark__load_csv_rows(model, agate_table) -%}
    {%- set statements = [] -%}
    {%- for chunk in agate_table.rows | batch(get_batch_size()) -%}
        {%- if not (loop.first and config.get('file_format') == 'delta') -%}
            {%- set query -%}
                insert into {{ this.render() }} values {{ seed_rows(model, agate_table, chunk) }}
            {%- endset -%}
            {%- do adapter.add_query(query, abridge_sql_log=True) -%}
            {%- do statements.append(query) -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(statements | first or '') -}}
{%- endmacro %}
