-- Silver holds an order that gold lost, or gold one that silver never had.
select coalesce(silver.order_id, gold.order_id) as order_id
from {{ ref('orders_current') }} as silver
full outer join {{ ref('fct_sales') }} as gold
    on silver.order_id = gold.order_id
where silver.order_id is null or gold.order_id is null
