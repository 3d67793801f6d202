{#-
    The action of a clause in SQL: `update` and `insert` write the input's columns, anything else is
    SQL already.

    columns  columns of the table
    written  columns to write, where the input has one more that must not be; else none
-#}
{% macro merge_action(then, columns, written=none) -%}
    {%- set input = merge_aliases()[1] -%}
    {%- set update_columns = get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), columns
    ) -%}
    {%- if then | lower | trim == 'insert' -%}
        {%- if written %}
        insert ({{ written | join(', ') }}) values ({{ input }}.{{ written | join(', ' ~ input ~ '.') }})
        {%- else %}
        insert *
        {%- endif %}
    {%- elif then | lower | trim != 'update' -%}
        {{ then }}
    {%- elif update_columns or written -%}
        update set {% for column in update_columns or written -%}
            {{ column }} = {{ input }}.{{ column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    {%- else -%}
        update set *
    {%- endif -%}
{%- endmacro %}
