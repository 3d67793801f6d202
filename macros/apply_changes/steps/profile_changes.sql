{#-
    Query: one row that profiles the input: counts, `bounds`, which limits where in the table its
    keys can be, and `bytes`, the approximate size of what a join broadcasts.

    The bounds are literals, because Delta skips files by literals only.
-#}
{% macro profile_changes(plan) -%}
    select
        count(*) as changes,
        (select count_if({{ lacks_key_or_sequence(plan) }}) from {{ plan.input }}) as quarantined,
        {%- if plan.apply_as_truncates %}
        (
            select count_if({{ plan.apply_as_truncates }} and not ({{ lacks_key_or_sequence(plan) }}))
            from {{ plan.input }}
        ) as truncates,
        {%- else %}
        0 as truncates,
        {%- endif %}
        {{ apply_strategy(plan, 'profile') }},
        concat_ws(
            ' and ',
            {%- for name in plan.bounded %}
            'old.`{{ name }}` between ' || {{ bound_literal('min', name, plan.columns[name]) }}
            || ' and ' || {{ bound_literal('max', name, plan.columns[name]) }},
            {%- endfor %}
            'true'
        ) as bounds
    from {{ plan.view }}__changes
{%- endmacro %}
