{#-
    Delete the model's rows that were made from upstream rows which have changed, and which the
    merge's input does not contain again: the upstream rows were deleted, have another key, or no
    longer pass the model's filters. A merge alone would keep them.

    Runs before the merge and can be repeated: watermarks are recorded after both. Fails if the rows
    to delete cannot be determined, or if rows changed upstream that the input lacks
    (`check_missed_changes`, `check_own_keys`).
-#}
{% macro delete_replaced_rows(source, keys, columns) -%}
    {%- set names = columns | map(attribute='name') | map('lower') | list -%}
    {%- set parts = [] -%}
    {%- set is_first = not invocation_cache().watermarks.get(this | string) -%}
    {%- for feed in feeds_in_sql(compiled_code) if feed.watermark < feed.newest -%}
        {%- if is_first -%}
            {#- A killed build wrote the table: the input has all of its rows. -#}
            {%- do parts.append('select ' ~ keys | join(', ') ~ ' from ' ~ this) -%}
        {%- elif feed.watermark >= 0 -%}
            {%- set problem = merge_problem(feed, keys, names) -%}
            {%- if problem -%}
                {%- do check_replaced_rows(feed, problem) -%}
            {%- else -%}
                {%- do check_missed_changes(feed) -%}
                {%- do parts.append(replaced_keys(feed, keys)) -%}
            {%- endif -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if parts and keys -%}
        {%- set equal = [] -%}
        {%- for key in keys -%}{%- do equal.append('old.' ~ key ~ ' <=> new.' ~ key) -%}{%- endfor -%}
        {%- set gone -%}
            select distinct old.* from ({{ parts | unique | join(' union all ') }}) as old
            left anti join {{ source }} as new on {{ equal | join(' and ') }}
        {%- endset -%}
        {%- if run_query('select 1 from (' ~ gone ~ ') limit 1').rows -%}
            {%- if not is_first -%}{%- do check_own_keys(source) -%}{%- endif -%}
            {%- do run_query(
                'merge into ' ~ this ~ ' as old using (' ~ gone ~ ') as new on '
                ~ equal | join(' and ') ~ ' when matched then delete'
            ) -%}
        {%- endif -%}
    {%- endif -%}
{%- endmacro %}
