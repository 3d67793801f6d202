{{
    config(
        incremental_strategy = 'replace_where',
        liquid_clustered_by = ['completed_date']
    )
}}

with

deliveries as (

    select *
    from {{ ref('fct_deliveries') }}
    where {{ affected_partitions('completed_date', ref('fct_deliveries'), '_build_id') }}

),

daily as (

    select
        completed_date,
        count(*) as delivery_count,
        count_if(delay_minutes > 0) as delayed_count,
        count(distinct truck_id) as truck_count,
        sum(duration_minutes) as duration_minutes

    from deliveries

    where is_completed and started_at is not null

    group by completed_date

)

select * from daily
