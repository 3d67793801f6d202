{{
    config(
        unique_key = 'order_id',
        matched_condition = 'DBT_INTERNAL_SOURCE.change_sequence > DBT_INTERNAL_DEST.change_sequence',
        merge_bounds = ['order_id'],
        liquid_clustered_by = ['order_id']
    )
}}

with

changes as (

    select *
    from {{ ref('stg_shop__orders') }}
    where {{ unread(source('shop', 'orders')) }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by order_id
            order by change_sequence desc, _batch_id desc
        ) as change_rank

    from changes

),

latest as (

    select
        order_id,
        customer_id,
        vehicle_id,
        order_status,
        amount_eur_cents,
        is_deleted,
        change_sequence,
        placed_at,
        updated_at,
        _ingested_at,
        _batch_id

    from ranked

    where change_rank = 1

)

select * from latest
