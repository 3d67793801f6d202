{#-
    Return whether this command builds models incrementally; other commands only render a model's
    text and need no watermarks.

    False for unit tests, whose rows are all new, and for `--empty` and `--sample`, which do not
    read all new rows and must not record that they did.
-#}
{% macro uses_watermarks() -%}
    {{- return(
        flags.WHICH in ('build', 'run', 'retry') and model.resource_type == 'model'
        and not flags.EMPTY and not flags.SAMPLE
    ) -}}
{%- endmacro %}
