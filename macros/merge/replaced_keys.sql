{#-
    Query: the keys of the model's rows that may be outdated by one change data feed, because they
    were made, each from one, from upstream rows that were updated or deleted.
-#}
{% macro replaced_keys(feed, keys) -%}
    {%- set images = changes_since(feed.table, feed.watermark, feed.newest)
        ~ " where _change_type in ('update_preimage', 'delete')" -%}
    {%- set theirs = key_of(feed.table) -%}
    {%- if bare_names(theirs) | sort == bare_names(keys) | sort -%}
        select {{ keys | join(', ') }} from {{ images }}
    {%- else -%}
        select {{ keys | join(', ') }} from {{ this }} as old
        where exists (
            select 1
            from (select {% for name in theirs %}{{ column_sql(name) }}{{ ', ' if not loop.last }}{% endfor %} from {{ images }}) as changed
            where
            {%- for name in theirs %}
                {{ 'and ' if not loop.first }}changed.{{ column_sql(name) }} <=> old.{{ column_sql(name) }}
            {%- endfor %}
        )
    {%- endif -%}
{%- endmacro %}
