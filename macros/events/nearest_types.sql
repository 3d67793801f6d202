{#-
    Return the known event types whose names are closest to an unknown name, as a text for a
    message. Missing or additional letters, such as a last part, count less than different letters.
-#}
{% macro nearest_types(stream, event_type) -%}
    {%- if not event_types(stream) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set query -%}
        select to_json(slice(array_sort(collect_list(struct(
            distance - abs(length(event_type) - {{ event_type | length }}), distance, event_type
        ))), 1, 3).event_type)
        from (
            select event_type, levenshtein(event_type, {{ sql_literal(event_type) }}) as distance
            from ops.event_types
            where stream = {{ sql_literal(stream) }}
        )
    {%- endset -%}
    {{- return('; nearest: ' ~ fromjson(run_query(query).columns[0].values()[0]) | join(', ')) -}}
{%- endmacro %}
