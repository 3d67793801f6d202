{#-
    Materialization that applies a source's changes to a table, in any order of arrival: SCD 1 or
    SCD 2.

    docs/reference/apply-changes.md describes the configuration, whose names are those of
    Databricks' AUTO CDC. The SQL is in the folders here; these files have what needs dbt.
-#}
{% materialization apply_changes, adapter='spark' -%}
    {%- set query = with_incremental_filter(compiled_code) -%}
    {%- set read = watermarks_in_sql(query) -%}
    {%- set code = code_fingerprint(compiled_code) -%}
    {%- set feed = own_feed() -%}
    {%- set relations = {'relations': [this.incorporate(type='table')]} -%}
    {{ run_hooks(pre_hooks) }}
    {%- if is_incremental() and is_up_to_date(read) and code == invocation_cache().codes.get(this | string) -%}
        {%- call noop_statement('main', 'nothing new', 'OK', 0) -%}
            {{ compiled_code }}
        {%- endcall -%}
        {{ run_hooks(post_hooks) }}
        {%- do cache_new_feeds(read, code, feed) -%}
        {{- return(relations) -}}
    {%- endif -%}
    {%- do check_upstream_deletes(query) -%}
    {%- set plan = build_plan(query) -%}
    {%- set evolution = evolve_columns(plan) -%}
    {%- do run_statements(evolution) -%}
    {#- Delta cannot read a change data feed across a widened type. -#}
    {%- if feed and ' alter column ' in evolution -%}{%- set feed = start_feed() -%}{%- endif -%}
    {%- if plan.target_columns and code != invocation_cache().codes.get(this | string) -%}
        {%- do alter_table_options(this) -%}
    {%- endif -%}
    {%- do run_statements(prepare_changes(plan)) -%}
    {%- do plan.update(first_row(run_statements(profile_changes(plan)))) -%}
    {%- do plan.update(first_row(run_statements(count_effects(plan)))) -%}
    {%- if plan.level -%}{%- do plan.update(first_row(run_statements(count_effects(plan)))) -%}{%- endif -%}
    {%- do plan.update({'needs_state': needs_state(plan) | trim}) -%}
    {%- if plan.quarantined -%}{%- do quarantine_changes(plan) -%}{%- endif -%}
    {%- do run_statements(write_state(plan)) -%}
    {%- if plan.target_columns -%}
        {%- do run_statements(write_changes(plan)) -%}
        {%- do save_expiry_time(plan) -%}
    {%- else -%}
        {%- do create_target_table(plan) -%}
    {%- endif -%}
    {%- do run_statements(save_newest_extract(plan)) -%}
    {%- do run_statements(drop_temp_views(plan)) -%}
    {%- call noop_statement('main', change_counts(plan), 'OK', plan.upserted + plan.deleted + plan.closed) -%}
        {{ query }}
    {%- endcall -%}
    {#- A part of the rows (`--empty`, `--sample`) leaves the watermarks of a table that stays. -#}
    {%- if uses_watermarks() or not plan.target_columns -%}
        {%- do cache_build(read, code, feed, plan.upserted + plan.deleted + plan.closed, plan) -%}
    {%- endif -%}
    {%- do persist_docs(this, model) -%}
    {{ run_hooks(post_hooks) }}
    {{- return(relations) -}}
{%- endmaterialization %}
