{#-
    Query: the spans of time, {by, started, ended}, in which sessions may begin or end elsewhere:
    where rows changed, and the model's sessions at most `gap` away from those, or from one another
    by such a row.

    points  query of the rows that changed, as they were and as they are: `by` and `time`
-#}
{% macro session_regions(points, keys, time, gap, conditions) -%}
    {%- set by = keys | join(', ') -%}
    with points as (
        select {{ by }}, {{ time }} as time from ({{ points }}) where {{ conditions | join(' and ') }}
    ),
    spans as (
        select {{ by }}, time as started, time as ended, true as is_changed from points
        union all
        select {{ by }}, session_started_at, session_ended_at, false
        from {{ this }} left semi join points using ({{ by }})
    ),
    firsts as (
        select *, coalesce(started > max(ended) over (
            partition by {{ by }} order by started rows between unbounded preceding and 1 preceding
        ) + interval {{ gap }}, true) as is_first
        from spans
    ),
    numbered as (
        select *, count_if(is_first) over (partition by {{ by }} order by started) as number from firsts
    )
    select {{ by }}, min(started) as started, max(ended) as ended
    from numbered
    group by {{ by }}, number
    having bool_or(is_changed)
{%- endmacro %}
