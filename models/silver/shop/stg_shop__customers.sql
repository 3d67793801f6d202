with

source as (

    select * from {{ source('shop', 'customers') }}

),

renamed as (

    select
        ---------- ids
        customer_id,

        ---------- strings
        name as customer_name,
        email,
        city,
        segment as customer_segment,

        ---------- booleans
        coalesce(Op = 'D', false) as is_deleted,

        ---------- ordering
        coalesce(AR_H_CHANGE_SEQ, '') as change_sequence,

        ---------- timestamps
        created_at as registered_at,
        updated_at,

        ---------- ours
        _ingested_at,
        _batch_id

    from source

)

select * from renamed
