{{
    config(
        incremental_strategy = 'replace_where',
        liquid_clustered_by = ['placed_date']
    )
}}

with

sales as (

    select *
    from {{ ref('fct_sales') }}
    where {{ affected_partitions('placed_date', ref('fct_sales'), '_build_id') }}

),

daily as (

    select
        placed_date,
        count(*) as order_count,
        count_if(is_sale) as sale_count,
        count_if(order_status = 'cancelled') as cancelled_count,
        coalesce(sum(amount_eur_cents) filter (where is_sale), 0) as revenue_eur_cents

    from sales

    where placed_date is not null

    group by placed_date

)

select * from daily
