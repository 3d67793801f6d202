{#-
    SQL condition for an aggregate over windows of time: selects all rows of `relation` in windows
    that are affected, as `affected_partitions` does for the values of a column. The model has the
    windows' beginnings (`window_start`) in `column`, and recomputes them with `replace_where`.

    A late row belongs to its own window, however old that is.
-#}
{% macro affected_windows(time, size, relation, column='window_started_at', counter='_batch_id') -%}
    {%- do check_arguments(
        'affected_windows()',
        {'time': time, 'size': size, 'relation': relation, 'column': column, 'counter': counter},
        kwargs, varargs
    ) -%}
    {{ affected_partitions(column, relation, counter, {'time': time, 'size': size}) }}
{%- endmacro %}
