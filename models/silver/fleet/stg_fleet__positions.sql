with

source as (

    select * from {{ source('fleet', 'positions') }}

),

renamed as (

    select
        ---------- ids
        truck_id,
        order_id,

        ---------- numbers
        latitude,
        longitude,

        ---------- dates
        cast(recorded_at as date) as event_date,

        ---------- timestamps
        recorded_at,

        ---------- ours
        _ingested_at,
        _batch_id

    from source

)

select * from renamed
