{#-
    SQL condition that a change is not applied to its row yet. Changes for which the state table has
    a newer one are already filtered out.
-#}
{% macro is_newer(plan) -%}
    {%- if plan.is_hidden -%}
        ({{ change_content(plan, 'new') }} <> {{ change_content(plan, 'old') }}
        {{- ' or new.__deleted <> old.is_deleted' if plan.keep_deleted }})
    {%- else -%}
        new.__position > {{ row_position(plan) }}
    {%- endif -%}
{%- endmacro %}
