{{
    config(
        unique_key = ['truck_id', 'recorded_at'],
        skip_matched_step = true,
        liquid_clustered_by = ['event_date', 'truck_id'],
        meta = {'merge_bounds': ['recorded_at']}
    )
}}

with

arrived as (

    select *
    from {{ ref('stg_fleet__positions') }}
    where {{ incremental_filter(source('fleet', 'positions')) }}

),

deduplicated as (

    select
        *,
        row_number() over (
            partition by truck_id, recorded_at
            order by _batch_id
        ) as delivery_number

    from arrived

),

events as (

    select
        truck_id,
        order_id,
        latitude,
        longitude,
        event_date,
        recorded_at,
        _ingested_at,
        _batch_id

    from deduplicated

    where delivery_number = 1

)

select * from events
