{#-
    Query: versions that are missing, different or obsolete in the table, with `__effect`: insert,
    close, update or delete.
-#}
{% macro changed_versions(plan, timeline) -%}
    {%- set start = '`' ~ plan.start_column ~ '`' -%}
    {%- set end = '`' ~ plan.end_column ~ '`' -%}
    select
        {{ column_names(plan.key_columns, 'version') }},
        {%- for name in plan.others %}
        {{ 'coalesce(version.__batch, version._batch_id)' if name == '_batch_id'
            else 'version.`' ~ name ~ '`' }} as `{{ name }}`,
        {%- endfor %}
        version.__started as {{ start }},
        version.__ended as {{ end }},
        {%- if not plan.target_columns %}
        'insert' as __effect
    from {{ timeline }} as version
    where version.__closes and not version.__deleted
        {%- else %}
        case
            when version.__shown is null then 'insert'
            when version.__ended is not null and version.__shown.ended is null then 'close'
            else 'update'
        end as __effect
    from {{ timeline }} as version
    where version.__closes and not version.__deleted
        and (
            version.__shown is null
            or not (version.__shown.ended <=> version.__ended)
            or not (version.__shown.shown <=> {{ comparable_columns(plan, plan.shown, 'version') }})
        )
    union all
    select
        {{ column_names(plan.key_columns + plan.others, 'version') }},
        version.__sequence,
        null,
        'delete'
    from {{ timeline }} as version
    where version.__version is not null and (version.__deleted or not version.__opens)
    {%- endif %}
{%- endmacro %}
