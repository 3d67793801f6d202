{{
    config(
        unique_key = 'event_id',
        skip_matched_step = true,
        liquid_clustered_by = ['event_date', 'vehicle_id'],
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
        user_id,
        session_id,
        vehicle_id,
        device_os,
        price_eur_cents,
        event_date,
        happened_at,
        _ingested_at,
        _batch_id

    from app_events

    where event_type = 'vehicle_viewed'

)

select * from events
