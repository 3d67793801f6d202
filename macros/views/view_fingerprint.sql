{#-
    Changes with the view's text, its configuration and what is said about it.
-#}
{% macro view_fingerprint(code) -%}
    {{- return(local_md5(code ~ model.unrendered_config ~ model.description)) -}}
{%- endmacro %}
