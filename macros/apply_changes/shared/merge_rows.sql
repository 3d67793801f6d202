{#-
    Statement that updates an SCD 1 table in one merge. `update_if` and `delete_if` are conditions
    on a change `new` and its row `old`; they are empty if all `rows` are known to differ.

    It has only the clauses that it needs: without an insert, Delta streams the table past the
    changes instead of joining the changes to it; with inserts only, it reads only keys.
-#}
{% macro merge_rows(plan, rows, update_if='', delete_if='') -%}
    {%- set written = plan.columns | list + (['is_deleted'] if plan.keep_deleted else []) -%}
    merge into {{ plan.target }} as old
    using ({{ rows }}) as new
    on {{ equal_columns(plan.key_columns, 'new', 'old') }} and {{ changed_key_filter(plan) }}
    {%- if plan.upserted + plan.deleted > plan.inserted %}
    {%- if not plan.keep_deleted %}
    when matched and new.__deleted {{- ' and ' ~ delete_if if delete_if }} then delete
    {%- endif %}
    when matched {{- ' and ' ~ update_if if update_if }} then update set
        {%- for name in plan.others %}
        `{{ name }}` = new.`{{ name }}`{{ ', ' if not loop.last }}
        {%- endfor -%}
        {{ ', is_deleted = new.__deleted' if plan.keep_deleted }}
    {%- endif %}
    {%- if plan.inserted or plan.truncates %}
    when not matched {{- '' if plan.keep_deleted else ' and not new.__deleted' }} then insert (
        {{ column_names(written) }}
    ) values (
        {{ column_names(plan.columns, 'new') }}{{ ', new.__deleted' if plan.keep_deleted }}
    )
    {%- endif %}
{%- endmacro %}
