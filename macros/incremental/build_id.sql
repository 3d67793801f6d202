{#-
    The number of this build of this model: what `_batch_id` is to a table with one source.

    A killed build has written its number but not recorded it, and is given it again: nobody
    reads beyond the recorded number.
-#}
{% macro build_id() -%}
    {%- if not execute or not reads_marks() -%}
        cast(0 as bigint)
    {%- else -%}
        /* build */ cast({{ mark_of(this, this) + 1 }} as bigint) /* built */
    {%- endif -%}
{%- endmacro %}
