{#-
    SQL expression for the number of this build of this model, which replaces `_batch_id` in a table
    that is built from several sources.

    A build that is killed writes its number but does not record it, and the next build gets the
    same number: no downstream model reads beyond the recorded number.
-#}
{% macro build_id() -%}
    {%- if not execute or not reads_marks() -%}
        cast(0 as bigint)
    {%- else -%}
        /* build */ cast({{ mark_of(this, this) + 1 }} as bigint) /* built */
    {%- endif -%}
{%- endmacro %}
