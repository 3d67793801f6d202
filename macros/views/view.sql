{#-
    dbt-spark's view materialization, which skips a view whose text is unchanged.

    A view follows its query's columns by itself (`with schema evolution`), so upstream tables may
    change without a rebuild. A view with a contract is rebuilt and checked in each build.
-#}
{% materialization view, adapter='spark' -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- if existing and existing.is_view and not config.get('contract').enforced
        and not should_full_refresh()
        and view_fingerprint(compiled_code) in (existing.information or '') -%}
        {{ run_hooks(pre_hooks) }}
        {%- call noop_statement('main', 'unchanged', 'OK', 0) -%}
            {{ compiled_code }}
        {%- endcall -%}
        {{ run_hooks(post_hooks) }}
        {{- return({'relations': [existing]}) -}}
    {%- endif -%}
    {{- return(dbt.materialization_view_spark()) -}}
{%- endmaterialization %}
