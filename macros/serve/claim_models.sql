{#-
    Claim the models of this command where `ingest serve` builds, too: two builds of one model at
    a time could leave a wrong row.

    Before anything is looked up: what is new is asked when nobody else writes. The claim and the
    answer are global temporary views, which all sessions of the driver see, and which are gone
    with it. Where no driver builds, nothing is claimed.
-#}
{% macro claim_models() -%}
    {%- set nodes = models_to_claim() -%}
    {%- if execute and nodes and is_beside_a_builder() -%}
        {%- set id = invocation_id | replace('-', '_') -%}
        {%- do run_query(
            'create or replace global temporary view headwater_claim_' ~ id
            ~ " as select '" ~ nodes | join(' ') ~ "' as models"
        ) -%}
        {#- Half a second each. -#}
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
            'another build has held these models for ten minutes; see `ingest status --models`, '
            'then run again, or select other models'
        ) -%}
    {%- endif -%}
{%- endmacro %}
