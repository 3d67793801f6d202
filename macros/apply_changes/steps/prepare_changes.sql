{#-
    Statements that read the input once and cache its changes as a view until the end of the build.

    Cached on disk, so that a full refresh needs no more memory than other builds.
-#}
{% macro prepare_changes(plan) -%}
    {%- if plan.snapshot_by %}
    {{ changes_of_extracts(plan) }}
    {{ next_statement() }}
    cache lazy table {{ plan.input }} options ('storageLevel' = 'DISK_ONLY')
    {{ next_statement() }}
    {%- endif %}
    create or replace temporary view {{ plan.view }}__changes as
    {{ apply_strategy(plan, 'changes') }}
    {{ next_statement() }}
    cache lazy table {{ plan.view }}__changes options ('storageLevel' = 'DISK_ONLY')
{%- endmacro %}
