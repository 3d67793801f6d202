{#-
    SQL expression for the number of this build of this model, which replaces `_batch_id` in a table
    that is built from several sources.

    A build that is killed writes its number but does not record it, and the next build gets the
    same number: no downstream model reads beyond the recorded number.
-#}
{% macro build_id() -%}
    {%- if not execute or not uses_watermarks() -%}
        cast(0 as bigint)
    {%- else -%}
        /* build_id */ cast({{ watermark_of(this, this) + 1 }} as bigint) /* end of build_id */
    {%- endif -%}
{%- endmacro %}
