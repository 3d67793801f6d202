{{ config(liquid_clustered_by = ['customer_id']) }}

with

customers as (

    select * from {{ ref('customers_current') }}

),

cities as (

    select * from {{ ref('cities') }}

),

living_customers as (

    select
        customers.customer_id,
        customers.customer_name,
        customers.email,
        customers.city,
        cities.country_code,
        customers.customer_segment,
        customers.registered_at,
        customers.updated_at

    from customers

    left join cities
        on customers.city = cities.city

    where not customers.is_deleted

)

select * from living_customers
