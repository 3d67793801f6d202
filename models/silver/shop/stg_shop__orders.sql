with

source as (

    select * from {{ source('shop', 'orders') }}

),

renamed as (

    select
        ---------- ids
        order_id,
        customer_id,
        vehicle_id,

        ---------- strings
        status as order_status,

        ---------- numbers
        cast(amount * 100 as bigint) as amount_eur_cents,

        ---------- booleans
        coalesce(Op = 'D', false) as is_deleted,

        ---------- ordering
        coalesce(AR_H_CHANGE_SEQ, '') as change_sequence,

        ---------- timestamps
        placed_at,
        updated_at,

        ---------- ours
        _ingested_at,
        _batch_id

    from source

)

select * from renamed
