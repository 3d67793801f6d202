{#-
    Keep what this node read and wrote until the end of the invocation, where it is recorded,
    and tell it to the models after it. `feed` is the name of the table's own change data feed.
-#}
{% macro remember_build(read, code, feed=none, rows_affected=none, counts={}) -%}
    {%- set memory = build_memory() -%}
    {%- set name = this | string -%}
    {%- set marks = {} -%}
    {%- for relation, batches in read.items() -%}
        {%- do marks.update({relation: batches[1]}) -%}
    {%- endfor -%}
    {%- if '/* build */' in compiled_code -%}
        {%- do marks.update({name: mark_of(this, this) + 1}) -%}
    {%- endif -%}
    {%- if feed -%}{%- do marks.update({feed: last_commit(this).version | int}) -%}{%- endif -%}
    {%- do memory.built.update({model.unique_id: {
        'model': name, 'marks': marks, 'code': code, 'rows_affected': rows_affected,
        'counts': counts,
    }}) -%}
    {%- if name in memory.newest -%}{%- do memory.newest.pop(name) -%}{%- endif -%}
    {%- if marks -%}{%- do memory.marks.update({name: marks}) -%}{%- endif -%}
{%- endmacro %}
