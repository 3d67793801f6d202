{{
    config(
        unique_key = 'order_id',
        liquid_clustered_by = ['order_id'],
        meta = {'merge_bounds': ['order_id']}
    )
}}

with

orders as (

    select * from {{ ref('orders_current') }}

),

vehicles as (

    select * from {{ ref('vehicles_current') }}

),

customer_versions as (

    select * from {{ ref('customers_history') }}

),

vehicle_versions as (

    select * from {{ ref('vehicles_history') }}

),

changed_orders as (

    {{
        affected_keys(
            'order_id',
            [ref('orders_current'), ref('orders_history')],
            vehicle_id=[ref('vehicles_current'), ref('vehicles_history')],
            customer_id=[ref('customers_history')]
        )
    }}

),

ordered as (

    select
        order_versions.order_id,
        min(order_versions.valid_from) as first_sequence

    from {{ ref('orders_history') }} as order_versions

    left semi join changed_orders
        on order_versions.order_id = changed_orders.order_id

    group by order_versions.order_id

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
        customer_versions.customer_segment as customer_segment_when_ordered,

        ---------- numbers
        orders.amount_eur_cents,
        vehicles.price_eur_cents as asking_price_eur_cents,
        vehicle_versions.price_eur_cents as asking_price_when_ordered_eur_cents,

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

    left join ordered
        on orders.order_id = ordered.order_id

    left join customer_versions
        on
            orders.customer_id = customer_versions.customer_id
            and ordered.first_sequence >= customer_versions.valid_from
            and (customer_versions.valid_to is null or ordered.first_sequence < customer_versions.valid_to)

    left join vehicle_versions
        on
            orders.vehicle_id = vehicle_versions.vehicle_id
            and ordered.first_sequence >= vehicle_versions.valid_from
            and (vehicle_versions.valid_to is null or ordered.first_sequence < vehicle_versions.valid_to)

)

select * from sales
