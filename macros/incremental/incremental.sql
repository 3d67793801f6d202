{#-
    dbt-spark's incremental materialization, which skips the build if the model is up to date.

    dbt-spark would merge an empty input, which takes seconds. The build is skipped if the marker
    comments in the compiled text show that every input ends at the model's watermark, and if the
    text is the one that built the table. A merge that also changes rows that its input lacks always
    runs. A batch of a microbatch model is skipped if it has no rows (`is_empty_batch`).
-#}
{% materialization incremental, adapter='spark', supported_languages=['sql', 'python'] -%}
    {%- set read = watermarks_in_sql(compiled_code) -%}
    {%- set feed = own_feed() -%}
    {%- set is_whole = not is_incremental() -%}
    {%- set code = code_fingerprint(compiled_code) if read else none -%}
    {%- set known_code = invocation_cache().codes.get(this | string) if read else none -%}
    {%- if is_incremental() and is_up_to_date(read) and code == known_code
        and not has_clause(['not_matched_by_source']) -%}
        {{ run_hooks(pre_hooks) }}
        {%- call noop_statement('main', 'nothing new', 'OK', 0) -%}
            {{ compiled_code }}
        {%- endcall -%}
        {{ run_hooks(post_hooks) }}
        {%- do cache_new_feeds(read, code, feed) -%}
        {{- return({'relations': [this.incorporate(type='table')]}) -}}
    {%- endif -%}
    {%- if is_empty_batch() -%}
        {{ run_hooks(pre_hooks) }}
        {%- call noop_statement('main', 'empty batch', 'OK', 0) -%}
            {{ compiled_code }}
        {%- endcall -%}
        {{ run_hooks(post_hooks) }}
        {{- return({'relations': [this.incorporate(type='table')]}) -}}
    {%- endif -%}
    {%- if is_incremental() and (not read or (known_code and code != known_code)) -%}
        {%- do alter_table_options(this) -%}
    {%- endif -%}
    {#- `create_table_as` turns a Python model's code into SQL. -#}
    {%- do model.update({'language': 'sql'}) -%}
    {%- set relations = dbt.materialization_incremental_spark() -%}
    {%- do drop_cached_input() -%}
    {%- do drop_python_model_view() -%}
    {#- A part of the rows (`--empty`, `--sample`) leaves the watermarks of a table that stays. -#}
    {%- if (uses_watermarks() or is_whole) and (read or feed or invocation_cache().watermarks.get(this | string)) -%}
        {%- do cache_build(read, code, feed, rows_written(this)) -%}
    {%- endif -%}
    {{- return(relations) -}}
{%- endmaterialization %}
