{#-
    No two rows have the same values in all of the columns.
-#}
{% test unique_together(model, columns) -%}
    select
        {{ columns | join(', ') }},
        count(*) as row_count
    from {{ model }}
    group by {{ columns | join(', ') }}
    having count(*) > 1
{%- endtest %}
