{#-
    The `from` of a model: rows of two inputs, joined where the second one's time is within a length
    of time from the first one's on. The inputs are named by their aliases:

        from {{ joined(
            views=ref('view_events'), orders=ref('order_events'),
            on=['user_id', 'vehicle_id'], within='1 hour', time='happened_at', key='event_id'
        ) }}

    on      columns that are equal
    within  longest time between the two, such as `'1 hour'`
    time    column with the time, or [first's, second's]
    key     columns that identify a row of the first input; the model selects them
    how     `inner`, `left`, `left semi` or `left anti`: for "and then not within" it is the last

    An increment joins the rows of the first input that are new or have changed, and those that such
    rows of the second one match, however late they come. The model merges by `key`, and by the
    second input's key, too, if several of its rows match one.
-#}
{% macro joined(on=none, within=none, time=none, key=none, how='inner') -%}
    {%- set needed = {'on': on, 'within': within, 'time': time, 'key': key} -%}
    {%- set names = kwargs.keys() | reject('in', needed) | list -%}
    {%- set missing = [] -%}
    {%- for name, value in needed.items() if not value -%}{%- do missing.append(name) -%}{%- endfor -%}
    {%- if varargs or missing or names | length != 2 or how not in ('inner', 'left', 'left semi', 'left anti') -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ": joined() takes two inputs by name, such as views=ref('view_events'), and on, within, time and "
            ~ 'key, and how as inner, left, left semi or left anti; it has the inputs ' ~ (names | join(', ') or 'none')
            ~ ' and how ' ~ how ~ (', and lacks ' ~ missing | join(', ') if missing)
        ) -%}
    {%- endif -%}
    {%- set first, second = names -%}
    {%- set left, right = kwargs[first], kwargs[second] -%}
    {%- set left_time, right_time = [time, time] if time is string else time -%}
    {%- set micros = duration(within, 'joined() takes a time within') -%}
    {%- set conditions = [
        second ~ '.' ~ right_time ~ ' >= ' ~ first ~ '.' ~ left_time,
        second ~ '.' ~ right_time ~ ' <= ' ~ first ~ '.' ~ left_time ~ ' + interval ' ~ within,
    ] -%}
    {%- for column in key_columns(on) -%}
        {%- do conditions.append(first ~ '.' ~ column ~ ' = ' ~ second ~ '.' ~ column) -%}
    {%- endfor -%}
    {{ finds_rows_by('joined()', key_columns(key)) }}
    {%- if not reads_increment('joined()', key_columns(key)) %}
        (select * from {{ left }} where {{ all_rows(left) }}) as {{ first }}
        {{ how }} join (select * from {{ right }} where {{ all_rows(right) }}) as {{ second }}
    {%- else -%}
        {%- set keys = key_columns(key) | join(', ') -%}
        {%- set changed_left = changes_of(left, keys ~ ', ' ~ left_time) -%}
        {%- set changed_right = changes_of(right, key_columns(on) | join(', ') ~ ', ' ~ right_time) -%}
        {%- set times -%}
            select {{ left_time }} as least, {{ left_time }} as greatest from ({{ changed_left }})
            union all
            select {{ right_time }} - interval {{ within }}, {{ right_time }} from ({{ changed_right }})
        {%- endset -%}
        {%- set span = time_span(times) -%}
        {%- set affected -%}
            select {{ keys }} from ({{ changed_left }})
            union
            select {{ first }}.{{ key_columns(key) | join(', ' ~ first ~ '.') }}
            from {{ left }} as {{ first }}
            inner join ({{ changed_right }}) as {{ second }} on {{ conditions | join(' and ') }}
            where {{ within_span(first ~ '.' ~ left_time, span) }}
        {%- endset -%}
        {%- set same_keys = [] -%}
        {%- set is_affected = [] -%}
        {%- for column in key_columns(key) -%}
            {%- do same_keys.append('old.' ~ column ~ ' <=> changed.' ~ column) -%}
            {%- do is_affected.append(first ~ '.' ~ column ~ ' <=> changed.' ~ column) -%}
        {%- endfor -%}
        (
            select * from {{ left }} as {{ first }}
            left semi join ({{ replaces(same_keys | join(' and '), affected) }}) as changed
                on {{ is_affected | join(' and ') }}
            where {{ within_span(left_time, span) }} or {{ left_time }} is null
        ) as {{ first }}
        {{ how }} join (
            select * from {{ right }} where {{ within_span(right_time, span, within) }}
        ) as {{ second }}
    {%- endif %}
    on {{ conditions | join(' and ') }}
{%- endmacro %}
