{{
    config(
        unique_key = 'view_id',
        skip_matched_step = true,
        liquid_clustered_by = ['minute_started_at'],
        meta = {'merge_bounds': ['minute_started_at']}
    )
}}

with

arrived as (

    select *
    from {{ source('live', 'page_views') }}
    where {{ incremental_filter(source('live', 'page_views')) }}

),

deduplicated as (

    select
        *,
        row_number() over (
            partition by view_id
            order by _batch_id
        ) as delivery_number

    from arrived

),

events as (

    select
        view_id,
        page,
        duration_ms,
        date_trunc('minute', viewed_at) as minute_started_at,
        viewed_at,
        _ingested_at,
        _batch_id

    from deduplicated

    where delivery_number = 1

)

select * from events
