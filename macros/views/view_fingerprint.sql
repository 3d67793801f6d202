{#-
    Return a hash of the view's text, configuration and description.
-#}
{% macro view_fingerprint(code) -%}
    {{- return(local_md5(code ~ model.unrendered_config ~ model.description)) -}}
{%- endmacro %}
