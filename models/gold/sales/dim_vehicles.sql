{{ config(liquid_clustered_by = ['vehicle_id']) }}

with

vehicles as (

    select * from {{ ref('vehicles_current') }}

),

living_vehicles as (

    select
        vehicle_id,
        vin,
        make,
        model,
        vehicle_status,
        model_year,
        mileage_km,
        price_eur_cents,
        listed_at,
        updated_at

    from vehicles

    where not is_deleted

)

select * from living_vehicles
