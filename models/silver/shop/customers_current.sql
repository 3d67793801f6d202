{{
    config(
        liquid_clustered_by = ['customer_id'],
        meta = {
            'keys': ['customer_id'],
            'sequence_by': ['change_sequence'],
            'apply_as_deletes': 'is_deleted',
            'keep_deleted': true
        }
    )
}}

select * from {{ ref('stg_shop__customers') }}
