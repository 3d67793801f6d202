{{
    config(
        unique_key = 'order_id',
        liquid_clustered_by = ['order_id'],
        meta = {'merge_bounds': ['order_id']}
    )
}}

with

delivery_events as (

    select * from {{ ref('delivery_events') }}

),

positions as (

    select * from {{ ref('truck_position_events') }}

),

changed_orders as (

    {{ affected_keys('order_id', [ref('delivery_events'), ref('truck_position_events')]) }}

),

steps as (

    select
        delivery_events.order_id,
        min(delivery_events.truck_id) as truck_id,
        max(delivery_events.delay_minutes) as delay_minutes,
        min(delivery_events.happened_at)
        filter (where delivery_events.event_type = 'delivery_started') as started_at,
        min(delivery_events.happened_at)
        filter (where delivery_events.event_type = 'delivery_completed') as completed_at

    from delivery_events

    left semi join changed_orders
        on delivery_events.order_id = changed_orders.order_id

    group by delivery_events.order_id

),

reports as (

    select
        positions.order_id,
        count(*) as position_count

    from positions

    left semi join changed_orders
        on positions.order_id = changed_orders.order_id

    group by positions.order_id

),

deliveries as (

    select
        ---------- ids
        steps.order_id,
        steps.truck_id,

        ---------- numbers
        coalesce(steps.delay_minutes, 0) as delay_minutes,
        (unix_millis(steps.completed_at) - unix_millis(steps.started_at)) div 60000 as duration_minutes,
        coalesce(reports.position_count, 0) as position_count,

        ---------- booleans
        steps.completed_at is not null as is_completed,

        ---------- dates
        cast(steps.completed_at as date) as completed_date,

        ---------- timestamps
        steps.started_at,
        steps.completed_at,

        ---------- ours
        {{ build_id() }} as _build_id

    from steps

    left join reports
        on steps.order_id = reports.order_id

)

select * from deliveries
