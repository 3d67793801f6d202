{#-
    Write changes without key or sequence to the quarantine table, as JSON, with the reason.
    Repeating it adds nothing.
-#}
{% macro quarantine_changes(plan) -%}
    {%- set quarantine = companion_table('quarantine', false) -%}
    {%- set layer = layer_of(this.schema) -%}
    {%- if not companion_table('quarantine') -%}
        {%- do run_query(
            'create table if not exists ' ~ quarantine ~ ' (_quarantined_at timestamp, '
            ~ '_reason_code string, _reason string, _row string) using delta'
            ~ (" tblproperties ('quality' = '" ~ layer ~ "')" if layer else '')
        ) -%}
        {%- do adapter.cache_added(quarantine.incorporate(type='table')) -%}
    {%- endif -%}
    {%- do run_query(
        'merge into ' ~ quarantine ~ ' as old using (' ~ quarantined_changes(plan) ~ ') as new '
        ~ 'on old._row = new._row when not matched then insert *'
    ) -%}
{%- endmacro %}
