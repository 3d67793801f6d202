{{
    config(
        unique_key = 'event_id',
        skip_matched_step = true,
        liquid_clustered_by = ['event_date', 'order_id'],
        meta = {'merge_bounds': ['event_date']}
    )
}}

with

app_events as (

    select *
    from {{ ref('app_events') }}
    where {{ incremental_filter(ref('app_events')) }}

),

events as (

    select
        event_id,
        order_id,
        truck_id,
        event_type,
        delay_minutes,
        event_date,
        happened_at,
        _ingested_at,
        _batch_id

    from app_events

    where event_type in ('delivery_started', 'delivery_delayed', 'delivery_completed')

)

select * from events
