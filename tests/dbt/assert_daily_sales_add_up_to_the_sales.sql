-- A day's roll-up says something else than the sales of that day.
with

counted as (

    select
        placed_date,
        count(*) as sale_count,
        sum(amount_eur_cents) as revenue_eur_cents

    from {{ ref('fct_sales') }}

    where is_sale

    group by placed_date

)

select
    daily.placed_date,
    daily.sale_count,
    counted.sale_count as counted
from {{ ref('agg_sales_daily') }} as daily
full outer join counted
    on daily.placed_date = counted.placed_date
where
    coalesce(daily.sale_count, 0) != coalesce(counted.sale_count, 0)
    or coalesce(daily.revenue_eur_cents, 0) != coalesce(counted.revenue_eur_cents, 0)
