{#-
    Return the queries that `replaces` marked in a model's compiled text, but for those whose inputs
    are up to date and which are not of a first build: {condition, columns, query}.

    columns  the model's own columns in the condition
-#}
{% macro replaced_in_sql(code, is_first=false) -%}
    {%- set found = [] -%}
    {%- for condition, query in modules.re.findall(
        '(?s)/\\* replaces where (.+?) \\*/(.*?)/\\* end of replaces \\*/', code
    ) if is_first or not is_up_to_date(watermarks_in_sql(query)) -%}
        {%- do found.append({
            'condition': condition,
            'columns': modules.re.findall('\\bold\\.(`[^`]+`|\\w+)', condition),
            'query': query,
        }) -%}
    {%- endfor -%}
    {{- return(found) -}}
{%- endmacro %}
