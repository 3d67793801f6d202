{#-
    Separator between the statements of a text; `run_statements` splits the text here.
-#}
{% macro next_statement() %}
-- next statement
{% endmacro %}
