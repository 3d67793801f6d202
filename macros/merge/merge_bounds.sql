{#-
    Return conditions on the table that all rows meet which a merge changes: those that its input
    matches (`profile_merge_input`), and those that it removes.
-#}
{% macro merge_bounds(facts, removed) -%}
    {%- set bounds = [] -%}
    {%- for column, condition in facts.bounds.items() -%}
        {%- if not removed or facts.rows == 0 -%}
            {%- do bounds.append(removed.bounds[column] if removed else condition) -%}
        {%- elif condition and removed.bounds[column] -%}
            {%- do bounds.append('(' ~ condition ~ ' or ' ~ removed.bounds[column] ~ ')') -%}
        {%- endif -%}
    {%- endfor -%}
    {{- return(bounds | select | list) -}}
{%- endmacro %}
