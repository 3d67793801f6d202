{#-
    The keys of the model's rows that may be no longer so, by one feed, as a query: rows of the
    table below that were replaced or removed made them.
-#}
{% macro removed_keys(feed, keys) -%}
    {%- set images = changes_since(feed.table, feed.mark, feed.newest)
        ~ " where _change_type in ('update_preimage', 'delete')" -%}
    {%- set theirs = [feed.key] if feed.key else key_of(feed.table) -%}
    {%- set own = [feed.own_key] if feed.key else theirs -%}
    {%- if theirs == own and bare_names(own) | sort == bare_names(keys) | sort -%}
        select {{ keys | join(', ') }} from {{ images }}
    {%- else -%}
        {#- A null is no key of `unread_keys`: models join by it. -#}
        {%- set equal = ' = ' if feed.key else ' <=> ' -%}
        select {{ keys | join(', ') }} from {{ this }} as old
        where exists (
            select 1
            from (select {% for name in theirs %}{{ column_sql(name) }}{{ ', ' if not loop.last }}{% endfor %} from {{ images }}) as changed
            where
            {%- for name in theirs %}
                {{ 'and ' if not loop.first }}changed.{{ column_sql(name) }}{{ equal }}old.{{ column_sql(own[loop.index0]) }}
            {%- endfor %}
        )
    {%- endif -%}
{%- endmacro %}
