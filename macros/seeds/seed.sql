{#-
    dbt's seed materialization, which skips the load if the seed's file, configuration and table are
    unchanged since the last load.

    A load takes two seconds per seed in every build, and makes downstream models treat the table as
    changed. `dbt seed` and `--full-refresh` always load.
-#}
{% materialization seed, adapter='spark' -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set code = seed_fingerprint() -%}
    {%- if existing and existing.is_delta and flags.WHICH != 'seed' and not should_full_refresh()
        and code and code == invocation_cache().codes.get(this | string)
        and table_version(this) == invocation_cache().versions.get(this | string, [none])[0] -%}
        {{ run_hooks(pre_hooks) }}
        {%- call noop_statement('main', 'unchanged', 'OK', 0) -%}{%- endcall -%}
        {#- dbt reads the rows afterwards, for `--show`. -#}
        {%- do store_result('agate_table', response='OK', agate_table=load_agate_table()) -%}
        {{ run_hooks(post_hooks) }}
        {{- return({'relations': [existing]}) -}}
    {%- endif -%}
    {%- set relations = dbt.materialization_seed_default() -%}
    {%- if config.get('file_format') == 'delta' -%}
        {%- do invocation_cache().versions.update({this | string: [table_version(this), 0]}) -%}
        {%- do invocation_cache().built.update({model.unique_id: {
            'model': this | string, 'watermarks': {this | string: 0}, 'code': code,
        }}) -%}
    {%- endif -%}
    {{- return(relations) -}}
{%- endmaterialization %}
