{{
    config(
        unique_key = 'event_id',
        skip_matched_step = true,
        liquid_clustered_by = ['event_date'],
        meta = {'merge_bounds': ['event_date']}
    )
}}

with

app_events as (

    select *
    from {{ ref('app_events') }}
    where {{ incremental_filter(ref('app_events')) }}

),

funnel_steps as (

    select * from {{ ref('funnel_steps') }}

),

events as (

    select
        app_events.event_id,
        app_events.user_id,
        app_events.session_id,
        app_events.vehicle_id,
        app_events.event_type,
        funnel_steps.funnel_step,
        funnel_steps.funnel_step_number,
        app_events.event_date,
        app_events.happened_at,
        app_events._ingested_at,
        app_events._batch_id

    from app_events

    inner join funnel_steps
        on app_events.event_type = funnel_steps.event_type

)

select * from events
