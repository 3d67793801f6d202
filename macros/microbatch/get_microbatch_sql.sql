{#-
    SQL statement that replaces, in one commit, the rows of a batch of a microbatch model. Repeating
    it changes nothing.

    dbt-spark overwrites the partitions that the batch has rows in: it keeps rows where the batch
    has none any longer, and loses those of other batches in the same partition.
-#}
{% macro get_microbatch_sql(source, target) -%}
    {%- set time = config.get('event_time') -%}
    insert into {{ target }}
    replace where {{ time }} >= timestamp '{{ batch_time(model.batch.event_time_start) }}'
        and {{ time }} < timestamp '{{ batch_time(model.batch.event_time_end) }}'
    {{ rows_to_insert(source, target) }}
{%- endmacro %}
