{{
    config(
        incremental_strategy = 'replace_where',
        liquid_clustered_by = ['event_date']
    )
}}

with

events as (

    select *
    from {{ ref('funnel_events') }}
    where {{ affected_partitions('event_date', ref('funnel_events')) }}

),

daily as (

    select
        event_date,
        funnel_step_number,
        funnel_step,
        count(*) as event_count,
        count(distinct session_id) as session_count,
        count(distinct user_id) as user_count

    from events

    where event_date is not null

    group by event_date, funnel_step_number, funnel_step

)

select * from daily
