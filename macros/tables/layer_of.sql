{#-
    Return the layer of a schema: bronze, silver or gold, also with a suffix as in `gold_finance`;
    none for any other schema.
-#}
{% macro layer_of(schema) -%}
    {%- set layer = schema.split('_') | first -%}
    {{- return(layer if layer in ['bronze', 'silver', 'gold'] else none) -}}
{%- endmacro %}
