{#-
    Return a hash of the model's text, its configuration and the models it reads through views; it
    changes when any of them is edited.

    Watermarks, build numbers and the values of `touched` are part of the compiled text but not of
    the code, so they are left out.
-#}
{% macro code_fingerprint(code) -%}
    {%- set text = modules.re.sub(
        '(?s)/\\* (unread|build) .*?/\\* (read|built) \\*/', '', code
    ) -%}
    {%- set parents = [] -%}
    {%- do collect_checksums(model, parents) -%}
    {{- return(local_md5(text ~ model.unrendered_config ~ parents | sort)) -}}
{%- endmacro %}
