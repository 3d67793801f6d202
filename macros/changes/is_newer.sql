{#-
    Whether a change is not in its row yet; what the memory knows better is out already.
-#}
{% macro is_newer(plan) -%}
    {%- if plan.is_hidden -%}
        ({{ change_content(plan, 'new') }} <> {{ change_content(plan, 'old') }}
        {{- ' or new.__deleted <> old.is_deleted' if plan.keep_deleted }})
    {%- else -%}
        new.__position > {{ known_position(plan) }}
    {%- endif -%}
{%- endmacro %}
