{#-
    Return the conditions that `touched` rendered into the model's text.

    Fails if several are not joined by "or" at each place: values affected in one input must be read
    from all inputs, or the row that replaces them lacks the values of the others.
-#}
{% macro touched_conditions(code) -%}
    {%- set one = '/\\* unread (?:(?!/\\* read \\*/).)*?/\\* touched \\*/ .*? /\\* read \\*/' -%}
    {%- set found = modules.re.findall('(?s)' ~ one, code) | unique | list -%}
    {%- for chain in modules.re.findall('(?is)' ~ one ~ '(?:\\s+or\\s+' ~ one ~ ')*', code) -%}
        {%- for text in found if text not in chain -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': a value that one touched() gives must be read of all inputs, or its row '
                ~ 'lacks the others; write touched(…) or touched(…) wherever one stands'
            ) -%}
        {%- endfor -%}
    {%- endfor -%}
    {%- set conditions = [] -%}
    {%- for text in found -%}
        {%- do conditions.append(text.split('/* touched */ ')[1][:-(' /* read */' | length)]) -%}
    {%- endfor -%}
    {{- return(conditions | unique | list) -}}
{%- endmacro %}
