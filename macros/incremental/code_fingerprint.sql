{#-
    Return a hash of the model's text, its configuration and the models it reads through views; it
    changes when any of them is edited.

    Watermarks, build numbers, the values of `affected_partitions` and bounds of time are part of the compiled text
    but not of the code, so they are left out; so is what a Python model is told of the build.
-#}
{% macro code_fingerprint(code) -%}
    {%- set text = modules.re.sub(
        '(?s)/\\* (watermark|build_id|bounds) .*?/\\* end( of build_id| of bounds)? \\*/|self\\.is_incremental = \\w+', '', code
    ) -%}
    {%- set parents = [] -%}
    {%- do collect_upstream_checksums(model, parents) -%}
    {{- return(local_md5(text ~ model.unrendered_config ~ parents | sort)) -}}
{%- endmacro %}
