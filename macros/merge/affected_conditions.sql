{#-
    Return the conditions that `affected_partitions` rendered into the model's text, on the model's
    own columns.

    Fails if several are not joined by "or" at each place: values affected in one input must be read
    from all inputs, or the row that replaces them lacks the values of the others.
-#}
{% macro affected_conditions(code) -%}
    {%- set one = '/\\* watermark (?:(?!/\\* end \\*/).)*?/\\* values \\*/ .*? /\\* end \\*/' -%}
    {%- set found = modules.re.findall('(?s)' ~ one, code) | unique | list -%}
    {%- for chain in modules.re.findall('(?is)' ~ one ~ '(?:\\s+or\\s+' ~ one ~ ')*', code) -%}
        {%- for text in found if text not in chain -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': values that are affected in one input must be read from all inputs, or their new '
                ~ 'rows lack the others; write affected_partitions(…) or affected_partitions(…) '
                ~ 'wherever one of them is'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set conditions = [] -%}
    {%- for text in found -%}
        {%- set condition = text.split('/* values */ ')[1][:-(' /* end */' | length)] -%}
        {%- set replaced = condition.split(' /* replaces ') -%}
        {%- do conditions.append(replaced[1][:-(' */' | length)] if replaced | length > 1 else condition) -%}
    {%- endfor -%}
    {{- return(conditions | unique | list) -}}
{%- endmacro %}
