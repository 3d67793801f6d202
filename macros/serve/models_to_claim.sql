{#-
    Return the ids of the models that this command writes, or that its tests read; none on target
    `local`, which opens the catalog itself: alone, or as the driver's own dbt.
-#}
{% macro models_to_claim() -%}
    {%- set nodes = [] -%}
    {%- if target.name != 'local'
        and flags.WHICH in ('build', 'run', 'retry', 'seed', 'snapshot', 'test') -%}
        {%- for id in selected_resources -%}
            {%- set kind = id.split('.')[0] -%}
            {%- if kind in ('model', 'seed', 'snapshot') -%}
                {%- do nodes.append(id) -%}
            {%- elif id in graph.nodes -%}
                {%- do nodes.extend(graph.nodes[id].depends_on.nodes) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {{- return(nodes | unique | list) -}}
{%- endmacro %}
