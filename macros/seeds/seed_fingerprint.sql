{#-
    Return a hash of the seed's file and configuration; none if the file is too large for dbt to
    compute its checksum.
-#}
{% macro seed_fingerprint() -%}
    {%- if model.checksum.name == 'sha256' -%}
        {{- return(local_md5(model.checksum.checksum ~ model.unrendered_config)) -}}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
