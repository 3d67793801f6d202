{#-
    The `from` of a model: rows of `relation` with the beginning and the end of their session,
    `session_started_at` and `session_ended_at`. A session is rows with the same values of `by`, each
    at most `gap` after the one before. Rows without a time or a value of `by` belong to none.

        select user_id, session_started_at, session_ended_at, count(*) as event_count
        from {{ sessions(ref('app_events'), by='user_id', time='happened_at', gap='30 minutes') }}
        group by user_id, session_started_at, session_ended_at

    by  columns whose values have sessions; the model selects them, and the two times

    An increment reads the sessions that new or changed rows are part of, join or split, however late
    they come: it knows them by the model's own rows. So the model keeps all sessions; who wants
    some of them selects them from the model (`check_sessions`).
-#}
{% macro sessions(relation, by, time, gap) -%}
    {%- do check_arguments('sessions()', {'relation': relation, 'by': by, 'time': time, 'gap': gap}, kwargs, varargs) -%}
    {%- set keys = key_columns(by) -%}
    {%- set rows = 'partition by ' ~ keys | join(', ') -%}
    {%- set conditions = [time ~ ' is not null'] -%}
    {%- for column in keys -%}{%- do conditions.append(column ~ ' is not null') -%}{%- endfor -%}
    {%- do duration(gap, 'sessions() takes a gap') if gap is defined -%}
    {%- set own = keys + ['session_started_at', 'session_ended_at'] -%}
    {%- set is_increment = reads_increment('sessions()', own) -%}
    {{ finds_rows_by('sessions()', own) }} {{ '/* sessions of ' ~ keys | join(', ') ~ ' */' if is_increment }}
    (
        select
            * except (_is_first, _session_number),
            min({{ time }}) over ({{ rows }}, _session_number) as session_started_at,
            max({{ time }}) over ({{ rows }}, _session_number) as session_ended_at
        from (
            select *, count_if(_is_first) over ({{ rows }} order by {{ time }}) as _session_number
            from (
                select
                    *,
                    coalesce(
                        {{ time }} > lag({{ time }}) over ({{ rows }} order by {{ time }}) + interval {{ gap }}, true
                    ) as _is_first
                from {{ relation }}
                {%- if is_increment %}
                    {%- set regions = session_regions(
                        changes_of(relation, keys | join(', ') ~ ', ' ~ time), keys, time, gap, conditions
                    ) -%}
                    {%- set span = time_span('select _started as least, _ended as greatest from (' ~ regions ~ ')') -%}
                    {%- set same = [] -%}
                    {%- for column in keys -%}{%- do same.append('old.' ~ column ~ ' = changed.' ~ column) -%}{%- endfor %}
                left semi join (
                    {{ replaces(
                        (same + ['old.session_started_at between changed._started and changed._ended']) | join(' and '),
                        regions
                    ) }}
                ) as region
                    on
                        {{ relation.identifier }}.{{ time }} between region._started and region._ended
                        {%- for column in keys %}
                        and {{ relation.identifier }}.{{ column }} = region.{{ column }}
                        {%- endfor %}
                where {{ conditions | join(' and ') }} and {{ within_span(time, span) }}
                {%- else %}
                where {{ conditions | join(' and ') }} and {{ all_rows(relation) }}
                {%- endif %}
            )
        )
    )
    {{ '/* end of sessions */' if is_increment }}
{%- endmacro %}
