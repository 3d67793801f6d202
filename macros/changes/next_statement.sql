{#-
    Stands between the statements of a text; whoever runs them splits it here.
-#}
{% macro next_statement() %}
-- next statement
{% endmacro %}
