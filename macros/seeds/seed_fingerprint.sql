{#-
    Changes with the seed's file and its configuration; none for a file that dbt finds too large
    to read for its checksum.
-#}
{% macro seed_fingerprint() -%}
    {%- if model.checksum.name == 'sha256' -%}
        {{- return(local_md5(model.checksum.checksum ~ model.unrendered_config)) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
