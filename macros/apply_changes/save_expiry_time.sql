{#-
    Record when a build expired tombstones, for `is_expiry_due`.
-#}
{% macro save_expiry_time(plan) -%}
    {%- if plan.has_state and plan.needs_state and plan.is_expiry_due -%}
        {%- do graph.setdefault('headwater_expired_at', {}).update(
            {this | string: modules.datetime.datetime.now()}
        ) -%}
    {%- endif -%}
{%- endmacro %}
