{#-
    dbt-spark's creation of a seed's table; a Delta table is created or replaced together with its
    first rows, in one commit.
-#}
{% macro spark__create_csv_table(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set quote = model['config'].get('quote_columns', none) -%}
    {%- set is_delta = config.get('file_format') == 'delta' -%}
    {%- set chunk = (agate_table.rows | batch(get_batch_size()) | list or [[]]) | first -%}
    {%- set names = [] -%}
    {%- set columns = [] -%}
    {%- for name in agate_table.column_names -%}
        {%- do names.append(adapter.quote_seed_column(name | string, quote)) -%}
        {%- do columns.append(
            names[-1] ~ ' ' ~ types.get(name, adapter.convert_type(agate_table, loop.index0))
        ) -%}
    {%- endfor -%}
    {%- set filled = is_delta and chunk -%}
    {%- set query -%}
        create {{ 'or replace ' if is_delta }}table {{ this.render() }}
        {{ '(' ~ columns | join(', ') ~ ')' if not filled }}
        {{ file_format_clause() }}
        {{ partition_cols(label='partitioned by') }}
        {{ clustered_cols(label='clustered by') }}
        {{ location_clause() }}
        {{ comment_clause() }}
        {{ tblproperties_clause() }}
        {%- if filled %}
            as select * from values {{ seed_rows(model, agate_table, chunk) }}
            as seed ({{ names | join(', ') }})
        {%- endif -%}
    {%- endset -%}
    {%- call statement('_') -%}
        {{ query }}
    {%- endcall -%}
    {{- return(query) -}}
{%- endmacro %}
