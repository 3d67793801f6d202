{#-
    Fail where rows of a table that the model follows were removed: nothing says of them that they
    are gone, as a change does.
-#}
{% macro refuse_removed(query) -%}
    {%- for feed in feeds_in(query) if 0 <= feed.mark < feed.newest -%}
        {%- do refuse_replaced(
            feed, 'no change says so; give that model keep_deleted: true, and this one apply_as_deletes',
            "'delete'"
        ) -%}
    {%- endfor -%}
{%- endmacro %}
