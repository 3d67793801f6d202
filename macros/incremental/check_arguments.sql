{#-
    Fail if a call of a macro lacks an argument or has one that the macro does not know.

    arguments  the macro's arguments and their values, in their order
    more       its `kwargs`
    extra      its `varargs`
-#}
{% macro check_arguments(what, arguments, more, extra) -%}
    {%- set takes = '; it takes ' ~ arguments.keys() | join(', ') -%}
    {%- for name in more -%}
        {%- do exceptions.raise_compiler_error(this ~ ': ' ~ what ~ ' has no argument ' ~ name ~ takes) -%}
    {%- endfor -%}
    {%- if extra -%}
        {%- do exceptions.raise_compiler_error(
            this ~ ': ' ~ what ~ ' has ' ~ extra | length ~ ' arguments too many' ~ takes
        ) -%}
    {%- endif -%}
    {#- While dbt parses, what a query finds is not known yet. -#}
    {%- for name, value in arguments.items() if execute and value is undefined -%}
        {%- do exceptions.raise_compiler_error(this ~ ': ' ~ what ~ ' lacks ' ~ name ~ takes) -%}
    {%- endfor -%}
{%- endmacro %}
