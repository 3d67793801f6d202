{#-
    Whether this command builds: others show a model's text, and have no marks to look up.

    A unit test gives a model its rows; all of them are new. `--empty` and `--sample` do not
    read what is new, and must not say that they have.
-#}
{% macro reads_marks() -%}
    {{- return(
        flags.WHICH in ('build', 'run', 'retry') and model.resource_type == 'model'
        and not flags.EMPTY and not flags.SAMPLE
    ) -}}
{%- endmacro %}
