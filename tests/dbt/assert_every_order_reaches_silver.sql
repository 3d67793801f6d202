-- Bronze holds an order that silver lost.
select bronze.order_id
from {{ source('shop', 'orders') }} as bronze
left anti join {{ ref('orders_current') }} as silver
    on bronze.order_id = silver.order_id
