{#-
    Return an option of the model, from its `config` or from `config.meta`.

    `meta` is where dbt wants options that it does not know itself (CustomKeyInConfigDeprecation).
    ingest/model_options lists these options and checks them; they are read here only. `node` is
    another model, from the graph.
-#}
{% macro model_option(name, default=none, node=none) -%}
    {%- set settings = (node or model)['config'] -%}
    {%- if name in settings -%}
        {{- return(settings[name]) -}}
    {%- endif -%}
    {{- return((settings['meta'] or {}).get(name, default)) -}}
{%- endmacro %}
