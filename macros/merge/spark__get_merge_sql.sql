{#-
    MERGE statement that can reject stale rows, insert only, delete, and skip files.

    dbt-spark's own merge updates every matched row, so a late change would overwrite a newer one.
    The config names are dbt-databricks' (docs/reference/dbt-options.md), so a model moves there
    unchanged. Two exist only here: `merge`, a list of clauses; and `merge_bounds`, columns that
    never change for a key, whose least and greatest value in the input limit the files that are
    searched, because Delta prunes a MERGE by literals only. Remove this macro when dbt-spark knows
    `matched_condition`; tests/build/test_merge.py fails then.
-#}
{% macro spark__get_merge_sql(target, source, unique_key, dest_columns, incremental_predicates) -%}
    {%- set columns = adapter.get_columns_in_relation(target) -%}
    {%- set keys = key_columns(unique_key) -%}
    {%- do check_key_columns(keys, columns | map(attribute='name') | map('lower') | list, 'table') -%}
    {%- do check_unmatched_rows() -%}
    {%- set facts = profile_merge_input(source, keys) -%}
    {%- do check_sessions(source, keys, facts.rows) -%}
    {%- set removed = removed_rows(source, keys, columns) -%}
    {%- set names = input_columns(source) if removed else none -%}
    {%- set target_alias, source_alias = merge_aliases() -%}
    {%- set predicates = key_columns(incremental_predicates) -%}
    {%- if removed and predicates -%}
        {%- set predicates = [source_alias ~ '._is_removed or (' ~ predicates | join(' and ') ~ ')'] -%}
    {%- endif -%}
    {%- set predicates = merge_keys(keys, keys if removed else facts.nulls)
        + predicates + merge_bounds(facts, removed) -%}
    {%- set evolves = model_option(
        'merge_with_schema_evolution', config.get('on_schema_change') == 'append_new_columns'
    ) | string | lower == 'true' -%}
    {#- Stars would write `_is_removed`, too; without evolution they are the table's columns. -#}
    {%- set written = (names if evolves else columns | map(attribute='quoted') | list) if removed else none -%}
    merge {{ 'with schema evolution ' if evolves }}
    into {{ target }} as {{ target_alias }}
    using {{ with_removed_rows(source, names, keys, removed.query) if removed else source }} as {{ source_alias }}
    on ({{ predicates | join(') and (') }})
    {%- if removed %}
    when matched and {{ source_alias }}._is_removed
    then delete
    {%- endif %}
    {#- The order of kinds is that of Spark's grammar. An input that dbt cut lacks most rows. -#}
    {%- for kind in ('matched', 'not_matched', 'not_matched_by_source')
        if not (kind == 'not_matched_by_source' and (flags.EMPTY or flags.SAMPLE)) -%}
        {%- for clause in merge_clauses() if clause.when == kind %}
    when {{ kind | replace('_', ' ') }}
        {{- ' and not ' ~ source_alias ~ '._is_removed' if removed and kind == 'not_matched' }}
        {{- ' and (' ~ clause.condition ~ ')' if clause.condition }}
    then {{ merge_action(clause.then, columns, written) }}
        {%- endfor -%}
    {%- endfor -%}
{%- endmacro %}
