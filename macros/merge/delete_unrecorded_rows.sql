{#-
    Delete the rows that a killed build appended without recording them, before they are appended
    again: rows above the model's watermark. Fails if the rows have no column that identifies them.
-#}
{% macro delete_unrecorded_rows(target) -%}
    {%- set found = modules.re.findall(
        '/\\* watermark ([^\\s@]+) (-?\\d+) -?\\d+ \\*/\\s*\\((\\S+) > ', compiled_code
    ) | unique | list -%}
    {%- if found -%}
        {%- set relation, watermark, counter = found[0] -%}
        {%- set names = adapter.get_columns_in_relation(target) | map(attribute='name') | list -%}
        {%- if found | length > 1 or counter not in names -%}
            {%- do exceptions.raise_compiler_error(
                this ~ ': without a unique_key, rows of a build that was killed are appended twice; '
                ~ 'set a unique_key, or select ' ~ counter ~ ' of the one table that incremental_filter() reads'
            ) -%}
        {%- endif -%}
        {%- do run_query('delete from ' ~ target ~ ' where ' ~ counter ~ ' > ' ~ watermark) -%}
    {%- endif -%}
{%- endmacro %}
