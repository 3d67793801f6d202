{#-
    Changes when the model, its configuration or what it reads through views was edited.

    Marks, build numbers and touched values stand in the compiled text but are not code, so
    they are left out.
-#}
{% macro code_fingerprint(code) -%}
    {%- set text = modules.re.sub(
        '(?s)/\\* (unread|build) .*?/\\* (read|built) \\*/', '', code
    ) -%}
    {%- set parents = [] -%}
    {%- do collect_checksums(model, parents) -%}
    {{- return(local_md5(text ~ model.unrendered_config ~ parents | sort)) -}}
{%- endmacro %}
