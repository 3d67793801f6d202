{#-
    dbt's part of a Python model's code, and the conditions of `dbt.incremental_filter()`: by the
    name of each relation that the model gives it as `dbt.ref('…')` or `dbt.source('…', '…')`.

    The conditions are those that the macro `incremental_filter` renders in SQL, so that their
    marker comments record what the model has read.
-#}
{% macro py_script_postfix(model) -%}
{{ dbt.py_script_postfix(model) }}

incremental_conditions = {}
{% for kind, names, _, column in modules.re.findall(
    'dbt\\.incremental_filter\\(\\s*dbt\\.(ref|source)\\(([^()]*)\\)\\s*(,\\s*(?:column\\s*=\\s*)?["\'](\\w+)["\']\\s*)?,?\\s*\\)',
    model.raw_code
) -%}
    {%- set names = modules.re.findall('["\']([^"\']+)["\']', names) -%}
    {%- set relation = ref(*names) if kind == 'ref' else source(*names) -%}
incremental_conditions["{{ relation.render() }}"] = r"""{{
    incremental_filter(relation, column or '_batch_id')
}}"""
{% endfor %}
{%- endmacro %}
