{#-
    The action of a clause in SQL: `update` and `insert` write the input's columns, anything else is
    SQL already.
-#}
{% macro merge_action(then, columns) -%}
    {%- set update_columns = get_merge_update_columns(
        config.get('merge_update_columns'), config.get('merge_exclude_columns'), columns
    ) -%}
    {%- if then | lower | trim == 'insert' -%}
        insert *
    {%- elif then | lower | trim != 'update' -%}
        {{ then }}
    {%- elif update_columns -%}
        update set {% for column in update_columns -%}
            {{ column }} = {{ merge_aliases()[1] }}.{{ column }}{{ ', ' if not loop.last }}
        {%- endfor -%}
    {%- else -%}
        update set *
    {%- endif -%}
{%- endmacro %}
