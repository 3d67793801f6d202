{#-
    Return whether this build expires tombstones: each build does, except in a process that builds
    repeatedly: there, one build in ten minutes does. Tombstones may be kept longer than
    `tombstone_retention`.
-#}
{% macro is_expiry_due() -%}
    {%- set last = graph.get('headwater_expired_at', {}).get(this | string) -%}
    {{- return(
        not driver_state() or not last
        or (modules.datetime.datetime.now() - last).total_seconds() >= 600
    ) -}}
{%- endmacro %}
