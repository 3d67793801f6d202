{#-
    Return the type of a column that has one type in the table and another in the input: the wider
    one; an empty text if neither type can hold all values of the other.
-#}
{% macro widened_type(table_type, input_type) -%}
    {%- set whole = {'tinyint': 3, 'smallint': 5, 'int': 10, 'bigint': 20} -%}
    {%- set sizes = {} -%}
    {%- for type in (table_type, input_type) -%}
        {%- if type in whole -%}
            {%- do sizes.update({type: [whole[type], 0]}) -%}
        {%- elif type.startswith('decimal(') -%}
            {%- set precision, scale = type[8:-1].split(',') -%}
            {%- do sizes.update({type: [precision | int - scale | int, scale | int]}) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- set old = sizes.get(table_type) -%}
    {%- set new = sizes.get(input_type) -%}
    {%- if table_type == input_type or input_type == 'void' -%} {{ table_type }}
    {%- elif old and new and old[0] >= new[0] and old[1] >= new[1] -%} {{ table_type }}
    {%- elif old and new and new[0] >= old[0] and new[1] >= old[1] -%} {{ input_type }}
    {%- elif (table_type, input_type) in [('float', 'double'), ('double', 'float')] -%} double
    {%- endif -%}
{%- endmacro %}
