{{
    config(
        unique_key = 'order_id',
        merge_bounds = ['order_id'],
        liquid_clustered_by = ['order_id']
    )
}}

with

orders as (

    select * from {{ ref('orders_current') }}

),

vehicles as (

    select * from {{ ref('vehicles_current') }}

),

changed_vehicles as (

    select vehicle_id
    from {{ ref('vehicles_current') }}
    where {{ unread(ref('vehicles_current')) }}

),

changed_orders as (

    select order_id
    from {{ ref('orders_current') }}
    where {{ unread(ref('orders_current')) }}

    union

    select orders.order_id
    from orders
    inner join changed_vehicles
        on orders.vehicle_id = changed_vehicles.vehicle_id

),

sales as (

    select
        ---------- ids
        orders.order_id,
        orders.customer_id,
        orders.vehicle_id,

        ---------- strings
        orders.order_status,
        vehicles.make,
        vehicles.model,

        ---------- numbers
        orders.amount_eur_cents,
        vehicles.price_eur_cents as asking_price_eur_cents,

        ---------- booleans
        orders.order_status in ('paid', 'shipped', 'delivered') and not orders.is_deleted as is_sale,

        ---------- dates
        cast(orders.placed_at as date) as placed_date,

        ---------- timestamps
        orders.placed_at,

        ---------- ours
        {{ build_id() }} as _build_id

    from orders

    left semi join changed_orders
        on orders.order_id = changed_orders.order_id

    left join vehicles
        on orders.vehicle_id = vehicles.vehicle_id

)

select * from sales
