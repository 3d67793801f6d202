{#-
    The known types whose names are nearest to a name that is none, in words. What lacks letters,
    such as a last part, is nearer than what has others.
-#}
{% macro nearest_types(stream, event_type) -%}
    {%- if not known_types(stream) -%}
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
