{#-
    Claim the models of this command if an `ingest serve` builds the project too: two simultaneous
    builds of one model could leave a wrong row. If no driver builds, nothing is claimed.

    It runs before new batches are looked up, so that no other build writes these models meanwhile.
    It waits for up to ten minutes, then fails. The claim and the answer are global temporary views,
    which all sessions of the driver see and which disappear with it.
-#}
{% macro claim_models() -%}
    {%- set nodes = models_to_claim() -%}
    {%- if execute and nodes and is_sql_endpoint() -%}
        {%- set id = invocation_id | replace('-', '_') -%}
        {%- do run_query(
            'create or replace global temporary view headwater_claim_' ~ id
            ~ " as select '" ~ nodes | join(' ') ~ "' as models"
        ) -%}
        {#- Each attempt takes half a second. -#}
        {%- for attempt in range(1200) -%}
            {%- if holds_claim() -%}
                {%- do graph.update({'headwater_claim': invocation_id}) -%}
                {{- return('') -}}
            {%- endif -%}
            {%- if attempt == 4 -%}
                {%- do log('waiting for another build of these models', info=true) -%}
            {%- endif -%}
            {%- do run_query("select java_method('java.lang.Thread', 'sleep', 500L)") -%}
        {%- endfor -%}
        {%- do release_models() -%}
        {%- do exceptions.raise_compiler_error(
            'another build has had the claim on these models for ten minutes; see `ingest status --models`, '
            'then run again, or select other models'
        ) -%}
    {%- endif -%}
{%- endmacro %}
