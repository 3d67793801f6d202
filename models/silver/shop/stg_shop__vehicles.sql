with

source as (

    select * from {{ source('shop', 'vehicles') }}

),

renamed as (

    select
        ---------- ids
        vehicle_id,

        ---------- strings
        vin,
        make,
        model,
        status as vehicle_status,

        ---------- numbers
        model_year,
        mileage_km,
        price_eur_cents,

        ---------- booleans
        coalesce(Op = 'D', false) as is_deleted,

        ---------- ordering
        coalesce(AR_H_CHANGE_SEQ, '') as change_sequence,

        ---------- timestamps
        listed_at,
        updated_at,

        ---------- ours
        _ingested_at,
        _batch_id

    from source

)

select * from renamed
