{#-
    Fail if a model leaves out sessions that `sessions` gave it: a later row may continue one, and the
    model's own rows are where an increment looks for it.

    rows  how many rows the input has
-#}
{% macro check_sessions(source, keys, rows) -%}
    {%- for by, query in modules.re.findall(
        '(?s)/\\* sessions of (.+?) \\*/(.*?)/\\* end of sessions \\*/', compiled_code
    ) -%}
        {%- set columns = by.split(', ') + ['session_started_at'] -%}
        {%- set count = 'select count(distinct struct(' ~ columns | join(', ') ~ ')) from ' -%}
        {%- set is_row = bare_names(keys) | sort == bare_names(columns) | sort -%}
        {%- set found = run_query(
            'select ' ~ (rows if is_row else '(' ~ count ~ source ~ ')') ~ ' as kept, (' ~ count ~ query ~ ') as given'
        ).rows[0] -%}
        {%- if found['kept'] != found['given'] -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': it keeps ' ~ found['kept'] ~ ' of ' ~ found['given'] ~ ' sessions that changed, '
                ~ 'but sessions() finds those that a later row continues in the model itself; keep all, and '
                ~ 'select some where the model is read'
            ) -%}
        {%- endif -%}
    {%- endfor -%}
{%- endmacro %}
