{#-
    Record when a build expired tombstones, for `is_time_to_forget`.
-#}
{% macro note_forgetting(plan) -%}
    {%- if plan.has_memory and plan.is_remembering and plan.is_forgetting -%}
        {%- do graph.setdefault('headwater_forgotten', {}).update(
            {this | string: modules.datetime.datetime.now()}
        ) -%}
    {%- endif -%}
{%- endmacro %}
