{#-
    Return the queries that `replaces` marked in a model's compiled text, but for those whose inputs
    are up to date: {condition, columns, query}.

    columns   the model's own columns in the condition
    is_first  whether the text is that of a first build, which returns all of them
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
