{#-
    Make a table a shallow clone of another. A model that reads streams goes on from what the other
    one has read; one that reads models reads them whole once.

    Says until when the clone can be read for sure: VACUUM of the other table may then remove files
    that only the clone still names.
-#}
{% macro spark__create_or_replace_clone(this_relation, defer_relation) -%}
    {%- set watermarks = marks_of_clone(this_relation, defer_relation) -%}
    {#- A clone that is killed in between has read nothing. -#}
    {%- do insert_rows('model_marks', watermarks.none, are_stamped=true) -%}
    {%- do clone_table(this_relation ~ '__memory', defer_relation ~ '__memory') -%}
    {%- set until = clone_table(this_relation, defer_relation) -%}
    {%- do insert_rows('model_marks', watermarks.all, are_stamped=true) -%}
    {%- do log(
        this_relation ~ ': shares files with ' ~ defer_relation ~ ', of which VACUUM may remove '
        ~ 'some from ' ~ until ~ ' on: clone again by then',
        info=true
    ) -%}
    select '{{ until }}' as until
{%- endmacro %}
