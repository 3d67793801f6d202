{#-
    Query: the spans of time, {by, _started, _ended}, in which sessions may begin or end elsewhere:
    where rows changed, and the model's sessions at most `gap` away from those, or from one another
    by such a row.

    points  query of the rows that changed, as they were and as they are: `by` and `time`
-#}
{% macro session_regions(points, keys, time, gap, conditions) -%}
    {%- set by = keys | join(', ') -%}
    with points as (
        select {{ by }}, {{ time }} as _time from ({{ points }}) where {{ conditions | join(' and ') }}
    ),
    spans as (
        select {{ by }}, _time as _started, _time as _ended, true as _is_changed from points
        union all
        select {{ by }}, session_started_at, session_ended_at, false
        from {{ this }} left semi join points using ({{ by }})
    ),
    firsts as (
        select *, coalesce(_started > max(_ended) over (
            partition by {{ by }} order by _started rows between unbounded preceding and 1 preceding
        ) + interval {{ gap }}, true) as _is_first
        from spans
    ),
    numbered as (
        select *, count_if(_is_first) over (partition by {{ by }} order by _started) as _number from firsts
    )
    select {{ by }}, min(_started) as _started, max(_ended) as _ended
    from numbered
    group by {{ by }}, _number
    having bool_or(_is_changed)
{%- endmacro %}
