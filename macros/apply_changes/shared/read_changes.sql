{#-
    Query: the changes of the input that have a key and a sequence, in the table's types, with

    __position  their position in the order of changes
    __deleted   whether they are deletes
    __unset     names of columns that they leave unchanged: `unset` of a row `input`, or none
-#}
{% macro read_changes(plan, unset='') -%}
    {%- set content = change_content(plan, 'new', 'new.__unset' if unset else '') -%}
    select
        {%- for name in plan.key_columns %}
        new.`{{ name }}`,
        {%- endfor -%}
        {%- for name in plan.others %}
        {% if name in plan.data and not plan.keep_deleted -%} if(new.__deleted, null, new.`{{ name }}`) as `{{ name }}`
        {%- elif name in plan.partial -%}
        if({{ is_set(plan, 'new', name) }}, new.`{{ name }}`, null) as `{{ name }}`
        {%- else -%} new.`{{ name }}` {%- endif -%} ,
        {%- endfor %}
        {{ change_position(
            plan, 'new', 'if(new.__deleted, ' ~ plan.delete_rank ~ ', ' ~ (1 - plan.delete_rank) ~ ')',
            content if plan.keep_deleted else 'if(new.__deleted, 0L, ' ~ content ~ ')'
        ) }} as __position,
        new.__deleted,
        new.__unset
    from (
        select
            {%- for name, type in plan.read_columns.items() %}
            {% if name not in plan.input_columns -%} cast(null as {{ type }})
            {%- elif plan.input_columns[name] != type -%} cast(input.`{{ name }}` as {{ type }})
            {%- else -%} input.`{{ name }}` {%- endif %} as `{{ name }}`,
            {%- endfor %}
            coalesce({{ plan.apply_as_deletes or 'false' }}, false) as __deleted,
            {{ unset or 'cast(array() as array<string>)' }} as __unset
        from {{ plan.input }} as input
        where not ({{ lacks_key_or_sequence(plan) }})
            {%- if plan.apply_as_truncates %}
            and not coalesce({{ plan.apply_as_truncates }}, false)
            {%- endif %}
    ) as new
{%- endmacro %}
