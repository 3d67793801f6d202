{{
    config(
        liquid_clustered_by = ['vehicle_id'],
        meta = {
            'keys': ['vehicle_id'],
            'sequence_by': ['change_sequence'],
            'apply_as_deletes': 'is_deleted',
            'keep_deleted': true
        }
    )
}}

select * from {{ ref('stg_shop__vehicles') }}
