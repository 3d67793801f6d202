{#-
    Return the beginnings of all batches from `start` on in which one of the inputs or the model's
    table has rows. Inputs are nodes with `event_time`.
-#}
{% macro batches_with_rows(inputs, start) -%}
    {%- set times = {this: config.get('event_time')} -%}
    {%- for node in inputs -%}
        {%- set relation = api.Relation.create(
            schema=node.schema, identifier=node.identifier or node.alias
        ) -%}
        {%- do times.update({relation: node.config.event_time}) -%}
    {%- endfor -%}
    {%- set query -%}
        {% for relation, time in times.items() %}
            {{ 'union' if not loop.first }}
            select date_format(
                date_trunc('{{ config.get("batch_size") }}', {{ time }}), 'yyyy-MM-dd HH:mm:ss'
            ) as batch
            from {{ relation }}
            where {{ time }} >= timestamp '{{ start }}'
        {% endfor %}
    {%- endset -%}
    {{- return(run_query(query).columns[0].values() | list) -}}
{%- endmacro %}
