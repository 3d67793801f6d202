{#-
    The action of a clause in SQL: `update` and `insert` write the input's columns, anything else is
    SQL already.

    columns  columns of the table
    source   columns of the input, where it has one more that must not be written; else none
-#}
{% macro merge_action(then, columns, source=none) -%}
    {%- set input = merge_aliases()[1] -%}
    {%- set update_columns = get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), columns
    ) -%}
    {%- if then | lower | trim == 'insert' -%}
        {%- if source %}
        insert ({{ source | join(', ') }}) values ({{ input }}.{{ source | join(', ' ~ input ~ '.') }})
        {%- else %}
        insert *
        {%- endif %}
    {%- elif then | lower | trim != 'update' -%}
        {{ then }}
    {%- elif update_columns or source -%}
        update set {% for column in update_columns or source -%}
            {{ column }} = {{ input }}.{{ column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    {%- else -%}
        update set *
    {%- endif -%}
{%- endmacro %}
