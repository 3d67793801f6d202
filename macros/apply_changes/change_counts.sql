{#-
    What a build did, in words for dbt's log line: "3 upserted, 1 late"; only what is not zero.
-#}
{% macro change_counts(plan) -%}
    {%- set words = [] -%}
    {%- for name in ('upserted', 'deleted', 'closed', 'late', 'tied', 'quarantined') if plan[name] -%}
        {%- do words.append(plan[name] ~ ' ' ~ name) -%}
    {%- endfor -%}
    {{- return(words | join(', ') or 'nothing changed') -}}
{%- endmacro %}
