{{
    config(
        unique_key = 'event_id',
        skip_matched_step = true,
        liquid_clustered_by = ['event_date', 'session_id'],
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
        page,
        referrer,
        device_os,
        app_version,
        duration_ms,
        event_date,
        happened_at,
        _ingested_at,
        _batch_id

    from app_events

    where event_type = 'page_viewed'

)

select * from events
