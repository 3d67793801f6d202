{#-
    Return the clauses of a model's merge in their order: [{when, condition, then}], from `merge` or
    from dbt-databricks' options for one clause of each kind. `node` is another model.

    ingest/model_options checks both when dbt parses the project.
-#}
{% macro merge_clauses(node=none) -%}
    {%- set clauses = [] + (model_option('merge', [], node) or []) -%}
    {%- if not clauses -%}
        {%- for when, then in {'matched': 'update', 'not_matched': 'insert'}.items()
            if model_option('skip_' ~ when ~ '_step', node=node) | string | lower != 'true' -%}
            {%- do clauses.append({
                'when': when, 'condition': model_option(when ~ '_condition', node=node), 'then': then,
            }) -%}
        {%- endfor -%}
        {%- if model_option('not_matched_by_source_action', node=node) -%}
            {%- do clauses.append({
                'when': 'not_matched_by_source',
                'condition': model_option('not_matched_by_source_condition', node=node),
                'then': model_option('not_matched_by_source_action', node=node),
            }) -%}
        {%- endif -%}
    {%- endif -%}
    {{- return(clauses) -}}
{%- endmacro %}
