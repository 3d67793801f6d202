{#-
    All rows of `relation` whose `column` has a value that some unread row has, as a condition:
    what a roll-up must read to compute those values anew.

    The values stand in the text, because Delta passes over files by literals only, and
    `replace_where` replaces exactly them.
-#}
{% macro touched(column, relation, counter='_batch_id') -%}
    {%- if not execute or not reads_marks() -%}
        true
    {%- else -%}
        {%- set condition = unread(relation, counter) -%}
        {%- set mark = mark_of(this, relation) if is_incremental() else -1 -%}
        {%- if not is_incremental() -%}
            {%- set values = 'true' -%}
        {%- elif mark == newest_batch(relation, counter) -%}
            {%- set values = 'false' -%}
        {%- else -%}
            {%- set values = values_condition(column, relation, condition, counter) -%}
        {%- endif -%}
        {{ condition.split(' (')[0] | trim }} {{ values }} /* read */
    {%- endif -%}
{%- endmacro %}
