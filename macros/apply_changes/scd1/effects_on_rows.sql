{#-
    Query: the effect of each key's newest change on an SCD 1 table: upsert, delete, late or none.

    A change that is already applied has no effect. A change that is in the state table but not in
    the table, because a build was killed between the two writes, is applied now. `__is_level` marks
    changes that differ from their row in content at most, which these effects do not compare yet
    (`row_position`).
-#}
{% macro effects_on_rows(plan, newest) -%}
    {%- set is_there = 'old.`' ~ plan.key_columns[0] ~ '` is not null' -%}
    {%- set known = ['null', 'null'] -%}
    {%- if plan.has_state -%}{%- do known.append('state.__position') -%}{%- endif -%}
    {%- if plan.apply_as_truncates -%}{%- do known.append('(' ~ truncate_position(plan, '__position') ~ ')') -%}{%- endif -%}
    {%- if not plan.is_hidden -%}
        {%- do known.append('if(' ~ is_there ~ ', ' ~ row_position(plan) ~ ', null)') -%}
    {%- endif -%}
    select
        __is_there,
        __is_level,
        __tied + if(__position <> __known
            and {{ sequence_of(plan, '__position') }} = {{ sequence_of(plan, '__known') }}, 1, 0) as __tied,
        case
            when __position < __known then 'late'
            {%- if not plan.keep_deleted %}
            when __deleted then if(__is_there, 'delete', 'none')
            {%- endif %}
            when not __is_there or __is_newer then if(__deleted, 'delete', 'upsert')
            else 'none'
        end as __effect
    from (
        select
            new.__position,
            new.__tied,
            new.__deleted,
            {{ is_there }} as __is_there,
            {{ is_newer(plan) }} as __is_newer,
            {{ 'false' if plan.is_hidden else is_there ~ ' and new.__position = ' ~ row_position(plan) }}
                as __is_level,
            greatest({{ known | join(', ') }}) as __known
        from {{ newest }} as new
        left join ({{ rows_that_change(plan, newest) }}) as old
            on {{ equal_columns(plan.key_columns, 'new', 'old') }}
        {%- if plan.has_state %}
        left join {{ plan.state_table }} as state
            on {{ equal_columns(plan.key_columns, 'new', 'state') }}
        {%- endif %}
    )
{%- endmacro %}
