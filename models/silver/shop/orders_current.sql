{{
    config(
        liquid_clustered_by = ['order_id'],
        meta = {
            'keys': ['order_id'],
            'sequence_by': ['change_sequence'],
            'apply_as_deletes': 'is_deleted',
            'keep_deleted': true
        }
    )
}}

select * from {{ ref('stg_shop__orders') }}
