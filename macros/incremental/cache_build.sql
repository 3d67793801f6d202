{#-
    Store what this node read and wrote in the invocation cache, for downstream models and for
    `record_run`, which writes it at the end of the invocation. `feed` is the name of the table's
    own change data feed.
-#}
{% macro cache_build(read, code, feed=none, rows_affected=none, counts={}) -%}
    {%- set cache = invocation_cache() -%}
    {%- set name = this | string -%}
    {%- set watermarks = {} -%}
    {%- for relation, batches in read.items() -%}
        {%- do watermarks.update({relation: batches[1]}) -%}
    {%- endfor -%}
    {%- if '/* build_id */' in compiled_code -%}
        {%- do watermarks.update({name: watermark_of(this, this) + 1}) -%}
    {%- endif -%}
    {%- if feed -%}{%- do watermarks.update({feed: last_commit(this).version | int}) -%}{%- endif -%}
    {%- do cache.built.update({model.unique_id: {
        'model': name, 'watermarks': watermarks, 'code': code, 'rows_affected': rows_affected,
        'counts': counts,
    }}) -%}
    {#- If the model reads no batches any more, earlier watermarks no longer apply; builds count on. -#}
    {%- if not watermarks and cache.watermarks.get(name) -%}
        {%- do watermarks.update({name: watermark_of(this, this)}) -%}
    {%- endif -%}
    {%- for known in (name, name ~ '@version', name ~ ' _build_id') if known in cache.newest -%}
        {%- do cache.newest.pop(known) -%}
    {%- endfor -%}
    {%- do cache.feeds.pop(name, none) -%}
    {%- if watermarks -%}{%- do cache.watermarks.update({name: watermarks}) -%}{%- endif -%}
{%- endmacro %}
