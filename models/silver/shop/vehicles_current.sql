{{
    config(
        unique_key = 'vehicle_id',
        matched_condition = 'DBT_INTERNAL_SOURCE.change_sequence > DBT_INTERNAL_DEST.change_sequence',
        merge_bounds = ['vehicle_id'],
        liquid_clustered_by = ['vehicle_id']
    )
}}

with

changes as (

    select *
    from {{ ref('stg_shop__vehicles') }}
    where {{ unread(source('shop', 'vehicles')) }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by vehicle_id
            order by change_sequence desc, _batch_id desc
        ) as change_rank

    from changes

),

latest as (

    select
        vehicle_id,
        vin,
        make,
        model,
        vehicle_status,
        model_year,
        mileage_km,
        price_eur_cents,
        is_deleted,
        change_sequence,
        listed_at,
        updated_at,
        _ingested_at,
        _batch_id

    from ranked

    where change_rank = 1

)

select * from latest
