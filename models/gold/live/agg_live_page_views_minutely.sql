{{
    config(
        incremental_strategy = 'replace_where',
        liquid_clustered_by = ['minute_started_at']
    )
}}

with

events as (

    select *
    from {{ ref('live_page_view_events') }}
    where {{ affected_partitions('minute_started_at', ref('live_page_view_events')) }}

),

minutely as (

    select
        minute_started_at,
        page,
        count(*) as view_count,
        avg(duration_ms) as average_duration_ms

    from events

    where minute_started_at is not null

    group by minute_started_at, page

)

select * from minutely
