{{
    config(
        liquid_clustered_by = ['order_id'],
        meta = {
            'stored_as_scd_type': 2,
            'keys': ['order_id'],
            'sequence_by': ['change_sequence'],
            'apply_as_deletes': 'is_deleted',
            'except_column_list': ['is_deleted'],
            'track_history_except_column_list': ['updated_at']
        }
    )
}}

select * from {{ ref('stg_shop__orders') }}
