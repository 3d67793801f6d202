{{
    config(
        unique_key = 'event_id',
        skip_matched_step = true,
        liquid_clustered_by = ['event_date', 'event_type'],
        meta = {'merge_bounds': ['event_date']}
    )
}}

with

arrived as (

    select *
    from {{ ref('stg_market__app_events') }}
    where {{ incremental_filter(source('market', 'app_events')) }}

),

deduplicated as (

    select
        *,
        row_number() over (
            partition by event_id
            order by _batch_id, received_at
        ) as delivery_number

    from arrived

),

events as (

    select
        event_id,
        user_id,
        session_id,
        vehicle_id,
        order_id,
        truck_id,
        event_type,
        severity,
        device_os,
        app_version,
        page,
        referrer,
        duration_ms,
        price_eur_cents,
        amount_eur_cents,
        delay_minutes,
        event_date,
        happened_at,
        received_at,
        _ingested_at,
        _batch_id

    from deduplicated

    where delivery_number = 1

)

select * from events
