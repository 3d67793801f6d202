with

source as (

    select * from {{ source('live', 'orders') }}

),

renamed as (

    select
        ---------- ids
        order_id,
        customer_id,

        ---------- strings
        status as order_status,
        op as change_operation,

        ---------- numbers
        cast(amount * 100 as bigint) as amount_eur_cents,

        ---------- ordering
        source_lsn,
        transaction_order,

        ---------- timestamps
        placed_at,

        ---------- ours
        _ingested_at,
        _batch_id

    from source

)

select * from renamed
