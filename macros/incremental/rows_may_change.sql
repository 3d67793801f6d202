{#-
    Whether rows of a node's table may be replaced or removed by later builds, so that a reader
    has to learn of the rows as they were: `feed` where the table's change data feed says so,
    `unknown` where nothing does, else nothing.

    Bronze only grows, and so does a merge that skips matched rows.
-#}
{% macro rows_may_change(node) -%}
    {%- set is_source = node.resource_type == 'source' -%}
    {%- set kind = node.config.materialized if not is_source else none -%}
    {%- set strategy = node.config.incremental_strategy if kind == 'incremental' else none -%}
    {%- if (is_source and node.identifier.endswith('__current')) or kind in ('table', 'snapshot') -%}
        {{- return('unknown') -}}
    {%- elif kind == 'apply_changes' or strategy in ('replace_where', 'insert_overwrite', 'microbatch') -%}
        {{- return('feed') -}}
    {%- elif strategy == 'merge' and node.config.unique_key and not node.config.skip_matched_step -%}
        {{- return('feed') -}}
    {%- endif -%}
    {{- return('') -}}
{%- endmacro %}
