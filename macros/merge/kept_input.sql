{#-
    The view of a merge's input that is kept from its first look at the input until its end; none
    where nothing is.

    A merge that updates rows keeps its input itself. On a server what is kept outlives who asked
    for it, where the merge fails.
-#}
{% macro kept_input() -%}
    {%- if config.get('unique_key') and config.get('skip_matched_step')
        and target.name == 'local' and model.language == 'sql' -%}
        {%- set view = this.incorporate(path={'identifier': this.identifier ~ '__dbt_tmp'}) -%}
        {{- return(view.include(database=false, schema=false)) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
