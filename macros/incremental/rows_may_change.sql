{#-
    Return whether later builds may update or delete rows of a node's table, so that incremental
    readers need the previous rows: `feed` if the table's change data feed contains them, `unknown`
    if nothing does, an empty text if rows never change.

    Bronze tables are append-only, and so are tables of a merge that only inserts.
-#}
{% macro rows_may_change(node) -%}
    {%- set is_source = node.resource_type == 'source' -%}
    {%- set kind = node.config.materialized if not is_source else none -%}
    {%- set strategy = node.config.incremental_strategy if kind == 'incremental' else none -%}
    {%- if (is_source and node.identifier.endswith('__current')) or kind in ('table', 'snapshot') -%}
        {{- return('unknown') -}}
    {%- elif kind == 'apply_changes' or strategy in ('replace_where', 'insert_overwrite', 'microbatch') -%}
        {{- return('feed') -}}
    {%- elif strategy == 'merge' and node.config.unique_key
        and has_clause(['matched', 'not_matched_by_source'], node) -%}
        {{- return('feed') -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
