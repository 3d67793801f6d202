{#-
    Fail if rows of the upstream table were deleted, or if its rows have another key than the model:
    no change event records that such rows are gone.
-#}
{% macro check_upstream_deletes(query) -%}
    {%- set keys = bare_names(key_columns(config.get('keys'))) | sort -%}
    {%- for feed in feeds_in(query) if 0 <= feed.mark < feed.newest -%}
        {%- if bare_names(key_of(feed.table)) | sort != keys -%}
            {%- do refuse_replaced(
                feed, 'keys ' ~ keys | join(', ') ~ ' are not those of its rows, so that a row with '
                ~ 'another key would stay; follow it by its own key, or what it is made of'
            ) -%}
        {%- endif -%}
        {%- do refuse_replaced(
            feed, 'no change says so; give that model keep_deleted: true, and this one apply_as_deletes',
            "'delete'"
        ) -%}
    {%- endfor -%}
{%- endmacro %}
