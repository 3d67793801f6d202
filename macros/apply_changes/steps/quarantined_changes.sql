{#-
    Query: changes without key or sequence, with the reason, for the quarantine table.
-#}
{% macro quarantined_changes(plan) -%}
    select distinct
        current_timestamp() as _quarantined_at,
        case
            {%- for name in plan.key_columns %}
            when `{{ name }}` is null then 'NULL_KEY'
            {%- endfor %}
            else 'NULL_SEQUENCE'
        end as _reason_code,
        concat('null in ', concat_ws(', '
            {%- for name in plan.key_columns + plan.sequence_by %}
            , if(`{{ name }}` is null, {{ sql_text(name) }}, null)
            {%- endfor %})) as _reason,
        to_json(struct(*), map('ignoreNullFields', 'false')) as _row
    from {{ plan.input }}
    where {{ lacks_key_or_sequence(plan) }}
{%- endmacro %}
