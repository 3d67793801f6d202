with

source as (

    select * from {{ source('market', 'app_events') }}

),

renamed as (

    select
        ---------- ids
        insertId as event_id,
        jsonPayload.user_id as user_id,
        jsonPayload.session_id as session_id,
        jsonPayload.vehicle_id as vehicle_id,
        jsonPayload.order_id as order_id,
        jsonPayload.truck_id as truck_id,

        ---------- strings
        jsonPayload.event_type as event_type,
        severity,
        jsonPayload.device.os as device_os,
        jsonPayload.device.app_version as app_version,
        jsonPayload.page as page,
        jsonPayload.referrer as referrer,

        ---------- numbers
        jsonPayload.duration_ms as duration_ms,
        cast(jsonPayload.price * 100 as bigint) as price_eur_cents,
        jsonPayload.amount_eur_cents as amount_eur_cents,
        jsonPayload.delay_minutes as delay_minutes,

        ---------- dates
        cast(`timestamp` as date) as event_date,

        ---------- timestamps
        `timestamp` as happened_at,
        receiveTimestamp as received_at,

        ---------- ours
        _ingested_at,
        _batch_id

    from source

)

select * from renamed
