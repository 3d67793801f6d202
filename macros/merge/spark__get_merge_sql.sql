{#-
    MERGE statement that can reject stale rows, insert only, and skip files.

    dbt-spark's own merge updates every matched row, so a late change would overwrite a newer one.
    The config names are dbt-databricks' (`matched_condition`, `not_matched_condition`,
    `skip_matched_step`, `skip_not_matched_step`), so a model moves there unchanged. `merge_bounds`
    exists only here: columns that never change for a key, whose least and greatest value in the
    input limit the files that are searched, because Delta prunes a MERGE by literals only. Remove
    this macro when dbt-spark knows `matched_condition`; tests/build/test_merge.py fails then.
-#}
{% macro spark__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) -%}
    {%- set columns = adapter.get_columns_in_relation(target) -%}
    {%- set keys = key_columns(unique_key) -%}
    {%- do check_key_columns(keys, columns) -%}
    {%- set facts = profile_merge_input(source, keys) -%}
    {%- do delete_replaced_rows(source, keys, columns) -%}
    {%- set predicates = [] + (incremental_predicates or []) -%}
    {%- do predicates.extend(merge_keys(keys, facts.nulls)) -%}
    {%- do predicates.extend(facts.bounds) -%}
    {%- set update_columns = get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), columns
    ) -%}
    {%- set matched = config.get('matched_condition') -%}
    {%- set not_matched = config.get('not_matched_condition') -%}
    merge {{ 'with schema evolution ' if config.get('on_schema_change') == 'append_new_columns' }}
    into {{ target }} as DBT_INTERNAL_DEST
    using {{ source }} as DBT_INTERNAL_SOURCE
    on {{ predicates | join(' and ') }}
    {%- if not config.get('skip_matched_step') %}
    when matched {{ 'and ' ~ matched if matched }} then update set
        {% if update_columns -%}
            {%- for column in update_columns -%}
                {{ column }} = DBT_INTERNAL_SOURCE.{{ column }}{{ ', ' if not loop.last }}
            {%- endfor -%}
        {%- else -%} * {%- endif -%}
    {%- endif -%}
    {%- if not config.get('skip_not_matched_step') %}
    when not matched {{ 'and ' ~ not_matched if not_matched }} then insert *
    {%- endif -%}
{%- endmacro %}
