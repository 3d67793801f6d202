{#-
    The newest batch that `relation` holds, looked up once an invocation; -1 when empty.

    A table that dbt built knows from its own record, which costs nothing; of the others the
    table's version says whether the recorded number still holds (a few hundredths of a
    second), and else the statistics of its files are asked. Of a view, nothing counts that the
    tables below it have not recorded.
-#}
{% macro newest_batch(relation, column) -%}
    {%- set memory = build_memory() -%}
    {%- set name = relation | string -%}
    {%- if name not in memory.newest -%}
        {%- set own = {} -%}
        {%- for read, batch in recorded_marks(relation).items() if '@' not in read -%}
            {%- do own.update({read: batch}) -%}
        {%- endfor -%}
        {%- if column == '_build_id' -%}
            {%- do memory.newest.update({name: own.get(name, -1)}) -%}
        {%- elif own | length == 1 and name not in own -%}
            {%- do memory.newest.update({name: own.values() | first}) -%}
        {%- else -%}
            {%- do look_up_newest_batch(memory, relation, column) -%}
            {%- set below = [] -%}
            {%- for table in changing_tables(relation) if not table.is_direct and table.has_feed -%}
                {%- do below.append(newest_batch(table.relation, column)) -%}
            {%- endfor -%}
            {%- if below -%}
                {%- do memory.newest.update({name: [memory.newest[name], below | max] | min}) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(memory.newest[name]) -}}
{%- endmacro %}
