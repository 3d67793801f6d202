{#-
    Return the counts of a build for dbt's log line, such as "3 upserted, 1 late"; only those that
    are not zero.
-#}
{% macro change_counts(plan) -%}
    {%- set words = [] -%}
    {%- for name in ('upserted', 'deleted', 'closed', 'late', 'tied', 'quarantined') if plan[name] -%}
        {%- do words.append(plan[name] ~ ' ' ~ name) -%}
    {%- endfor -%}
    {{- return(words | join(', ') or 'nothing changed') -}}
{%- endmacro %}
