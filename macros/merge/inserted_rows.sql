{#-
    Return the query of the rows that a model's first build or full refresh writes: those that its
    clauses (`merge`) would insert into an empty table. The query itself for models without them.

    dbt-databricks' `not_matched_condition` does not count in a first build, here as there.
-#}
{% macro inserted_rows(code) -%}
    {%- set clauses = model_option('merge') -%}
    {%- if not clauses -%}{{- return(code) -}}{%- endif -%}
    {%- set conditions = [] -%}
    {%- for clause in clauses if clause.when == 'not_matched' -%}
        {%- do conditions.append('(' ~ (clause.condition or 'true') ~ ')') -%}
    {%- endfor -%}
    {{- return(
        'select * from (\n' ~ code ~ '\n) as ' ~ merge_aliases()[1]
        ~ ' where ' ~ (conditions | join(' or ') or 'false')
    ) -}}
{%- endmacro %}
