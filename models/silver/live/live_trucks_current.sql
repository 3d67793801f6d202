{{
    config(
        unique_key = 'truck_id',
        matched_condition = 'DBT_INTERNAL_SOURCE.recorded_at > DBT_INTERNAL_DEST.recorded_at'
    )
}}

with

arrived as (

    select *
    from {{ source('live', 'positions') }}
    where {{ incremental_filter(source('live', 'positions')) }}

),

newest as (

    select
        truck_id,
        max_by(latitude, recorded_at) as latitude,
        max_by(longitude, recorded_at) as longitude,
        max(recorded_at) as recorded_at

    from arrived

    group by truck_id

)

select * from newest
