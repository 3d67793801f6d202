{#-
    Load the watermarks from `ops.model_marks` into the invocation cache: those of each model's last
    build. Reads no table if this process has a copy of the table's present version
    (`cache_watermarks`).

    The query returns one JSON text, because dbt infers the type of every value of a larger result.
-#}
{% macro load_watermarks(cache) -%}
    {%- set cached = graph.get('headwater_watermarks') -%}
    {%- if cached and cached.version == driver_state().watermarks_version -%}
        {#- Copy it: watermarks that a build adds are valid only once recorded. -#}
        {%- do cache.update(fromjson(tojson(cached))) -%}
        {{- return('') -}}
    {%- endif -%}
    {%- set query -%}
        select to_json(flatten(collect_list(latest))) as watermarks
        from (
            select max_by(rows, recorded_at) as latest
            from (
                select
                    model,
                    recorded_at,
                    collect_list(struct(model, relation, mark, version, code)) as rows
                from ops.model_marks
                group by model, recorded_at
            )
            group by model
        )
    {%- endset -%}
    {#- A model that has read nothing has one row without a relation (`marks_of_clone`). -#}
    {%- for row in fromjson(run_query(query).columns[0].values()[0]) if row.relation -%}
        {%- do cache.watermarks.setdefault(row.model, {}).update({row.relation: row.mark}) -%}
        {%- do cache.codes.update({row.model: row.code}) -%}
        {%- if row.version and row.mark >= cache.versions.get(row.relation, ['', -1])[1] -%}
            {%- do cache.versions.update({row.relation: [row.version, row.mark]}) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
