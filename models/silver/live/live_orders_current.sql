{{
    config(
        liquid_clustered_by = ['order_id'],
        meta = {
            'keys': ['order_id'],
            'sequence_by': ['source_lsn', 'transaction_order'],
            'apply_as_deletes': "change_operation = 'd'",
            'apply_as_truncates': "change_operation = 't'",
            'except_column_list': ['change_operation']
        }
    )
}}

-- A table that shows the order of changes has to remember deleted rows alone.
-- What has no operation says that a deleted row is gone, once more.
select *
from {{ ref('stg_live__orders') }}
where change_operation is not null
