{#-
    Render one step of the plan's strategy (`plan.strategy`, which `plan_changes` picks once): the
    only place that asks which strategy it is.

    Each strategy renders the same steps:

    changes           query: the input's changes, as the strategy merges them
    profile           SQL list: how many changes are deletes, and bytes to broadcast in a join
    effects           statements; the last one returns one row of counts (`count_effects`)
    needs_state       `yes` if the table cannot show all changes
    state_columns     SQL list: positions and flags of a row of the state table
    write_state       statements that write the state table
    delete_truncated  statement that deletes the rows before the newest truncate event
    merge             statement that merges the changes into the table
    first_rows        query: all rows of a table that this build creates
    expired           SQL condition: rows of the state table that may expire
    drop_views        statements that drop the strategy's own temporary views
-#}
{% macro apply_strategy(plan, step) -%}
    {%- if plan.strategy == 'scd1' -%}
        {{ apply_scd1(plan, step) }}
    {%- elif plan.strategy == 'scd1_partial' -%}
        {{ apply_scd1_partial(plan, step) }}
    {%- else -%}
        {{ apply_scd2(plan, step) }}
    {%- endif -%}
{%- endmacro %}
