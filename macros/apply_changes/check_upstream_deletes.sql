{#-
    Fail if rows of the upstream table were deleted, or if its rows have another key than the model:
    no change event records that such rows are gone.
-#}
{% macro check_upstream_deletes(query) -%}
    {%- set keys = bare_names(key_columns(model_option('keys'))) | sort -%}
    {%- for feed in feeds_in_sql(query) if 0 <= feed.watermark < feed.newest -%}
        {%- if bare_names(key_of(feed.table)) | sort != keys -%}
            {%- do check_replaced_rows(
                feed, 'keys ' ~ keys | join(', ') ~ ' are not its key, so that rows whose key has '
                ~ 'changed would stay; use its key, or read the table that it is made from'
            ) -%}
        {%- endif -%}
        {%- do check_replaced_rows(
            feed, 'no change event records the deletion; set keep_deleted: true on that model and '
            ~ 'apply_as_deletes on this one',
            "'delete'"
        ) -%}
    {%- endfor -%}
{%- endmacro %}
