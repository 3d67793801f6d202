{#-
    Return the model's rows that a merge has to remove: {query: of their keys, and maybe of keys that
    it never had, bounds: by column a condition on the table}; none if there are none. They were made
    from upstream rows which have changed, and the merge's input does not contain them again: the
    upstream rows were deleted, have another key, or no longer pass the model's filters; or a new row
    excludes them.

    The query can be repeated: watermarks are recorded after the merge. Fails if the rows cannot be
    determined, or if rows changed upstream that the input lacks (`check_missed_changes`,
    `check_own_keys`, `check_replaced_keys`).
-#}
{% macro removed_rows(source, keys, columns) -%}
    {%- set feeds = feeds_in_sql(compiled_code) -%}
    {%- set replaced = replaced_in_sql(compiled_code) -%}
    {%- set parts = [] -%}
    {%- set is_first = not invocation_cache().watermarks.get(this | string) -%}
    {%- if not keys -%}
        {{- return(none) -}}
    {%- elif is_first -%}
        {#- A killed build wrote the table: the input has all of its rows. -#}
        {%- if feeds or replaced -%}
            {%- do parts.append('select ' ~ keys | join(', ') ~ ' from ' ~ this) -%}
        {%- endif -%}
    {%- else -%}
        {%- do check_replaced_keys(replaced, columns | map(attribute='name') | map('lower') | list) -%}
        {%- for feed in feeds if 0 <= feed.watermark < feed.newest -%}
            {%- set problem = merge_problem(feed, keys) -%}
            {%- if problem -%}
                {%- do check_replaced_rows(feed, problem) -%}
            {%- else -%}
                {%- do check_missed_changes(feed) -%}
                {%- if feed.by == 'incremental_filter' -%}
                    {%- do parts.append(replaced_keys(feed, keys)) -%}
                {%- endif -%}
            {%- endif -%}
        {%- endfor -%}
        {%- for one in replaced -%}
            {%- set same = ['old.' ~ keys[0] ~ ' = changed.' ~ keys[0], 'old.' ~ keys[0] ~ ' <=> changed.' ~ keys[0]] -%}
            {%- if keys | length == 1 and one.condition in same -%}
                {%- do parts.append('select ' ~ keys[0] ~ ' from (' ~ one.query ~ ')') -%}
            {%- else -%}
                {%- do parts.append(
                    'select ' ~ keys | join(', ') ~ ' from ' ~ this ~ ' as old where exists (select 1 from ('
                    ~ one.query ~ ') as changed where ' ~ one.condition ~ ')'
                ) -%}
            {%- endif -%}
        {%- endfor -%}
    {%- endif -%}
    {%- if parts -%}
        {%- set equal = [] -%}
        {%- for key in keys -%}{%- do equal.append('old.' ~ key ~ ' <=> new.' ~ key) -%}{%- endfor -%}
        {%- set removed -%}
            select distinct old.* from ({{ parts | unique | join(' union all ') }}) as old
            left anti join {{ source }} as new on {{ equal | join(' and ') }}
        {%- endset -%}
        {%- set columns = bounded_columns(keys) -%}
        {%- set parts = ['count(*)'] -%}
        {%- for column in columns -%}{%- do parts.extend(range_parts(column)) -%}{%- endfor -%}
        {%- set found = texts_of(parts, '(' ~ removed ~ ')') -%}
        {%- if found[0] != '0' -%}
            {%- if not is_first -%}{%- do check_own_keys(source) -%}{%- endif -%}
            {%- set bounds = {} -%}
            {%- for column in columns -%}
                {%- set begin = 1 + loop.index0 * 4 -%}
                {%- do bounds.update({column: range_condition(column, found[begin:begin + 4])}) -%}
            {%- endfor -%}
            {{- return({'query': removed, 'bounds': bounds}) -}}
        {%- endif -%}
    {%- endif -%}
    {{- return(none) -}}
{%- endmacro %}
