{#-
    dbt-spark's table of a seed; of a Delta one it is created or replaced.
-#}
{% macro spark__create_csv_table(model, agate_table) -%}
    {%- set types = model['config'].get('column_types', {}) -%}
    {%- set quote = model['config'].get('quote_columns', none) -%}
    {%- set query -%}
        create {{ 'or replace ' if config.get('file_format') == 'delta' }}table {{ this.render() }} (
            {%- for name in agate_table.column_names -%}
                {{ adapter.quote_seed_column(name | string, quote) }} {{
                    types.get(name, adapter.convert_type(agate_table, loop.index0))
                }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        )
        {{ file_format_clause() }}
        {{ partition_cols(label='partitioned by') }}
        {{ clustered_cols(label='clustered by') }}
        {{ location_clause() }}
        {{ comment_clause() }}
    {%- endset -%}
    {%- call statement('_') -%}
        {{ query }}
    {%- endcall -%}
    {{- return(query) -}}
{%- endmacro %}
