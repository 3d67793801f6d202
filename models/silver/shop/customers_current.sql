{{
    config(
        unique_key = 'customer_id',
        matched_condition = 'DBT_INTERNAL_SOURCE.change_sequence > DBT_INTERNAL_DEST.change_sequence',
        merge_bounds = ['customer_id'],
        liquid_clustered_by = ['customer_id']
    )
}}

with

changes as (

    select *
    from {{ ref('stg_shop__customers') }}
    where {{ unread(source('shop', 'customers')) }}

),

ranked as (

    select
        *,
        row_number() over (
            partition by customer_id
            order by change_sequence desc, _batch_id desc
        ) as change_rank

    from changes

),

latest as (

    select
        customer_id,
        customer_name,
        email,
        city,
        customer_segment,
        is_deleted,
        change_sequence,
        registered_at,
        updated_at,
        _ingested_at,
        _batch_id

    from ranked

    where change_rank = 1

)

select * from latest
