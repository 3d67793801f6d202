{#-
    Store what this node read and wrote in the invocation cache, for downstream models and for
    `record_run`, which writes it at the end of the invocation. `feed` is the name of the table's
    own change data feed.
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
    {#- If the model reads no batches any more, earlier watermarks no longer apply. -#}
    {%- if not marks and memory.marks.get(name) -%}{%- do marks.update({name: -1}) -%}{%- endif -%}
    {%- for known in (name, name ~ '@version') if known in memory.newest -%}
        {%- do memory.newest.pop(known) -%}
    {%- endfor -%}
    {%- do memory.feeds.pop(name, none) -%}
    {%- if marks -%}{%- do memory.marks.update({name: marks}) -%}{%- endif -%}
{%- endmacro %}
