{#-
    Return the view of a merge's input if it is cached between the check of the input and the merge;
    none if it is not cached.

    A merge that updates rows caches its input itself. On a server, a cached view outlives the
    client that created it if the merge fails, so it is cached on target `local` only.
-#}
{% macro cached_input() -%}
    {%- if config.get('unique_key')
        and (not has_clause(['matched', 'not_matched_by_source']) or replaced_in_sql(compiled_code))
        and target.name == 'local' -%}
        {%- set view = this.incorporate(path={'identifier': this.identifier ~ '__dbt_tmp'}) -%}
        {{- return(view.include(database=false, schema=false)) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
