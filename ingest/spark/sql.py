"""Names, literals and types as Spark's SQL writes them."""

from __future__ import annotations

from pyspark.sql import types as T


def quoted(name: str) -> str:
    """A name as a SQL identifier."""
    return "`" + name.replace("`", "``") + "`"


def text_literal(text: str) -> str:
    """A text as a SQL literal; Spark would read `${` as a variable."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("${", "$\\{")
    return f"'{escaped}'"


def sql_type(kind: T.DataType, variant: str = "variant") -> str:
    """A type in words of Spark, its names quoted; with another word for VARIANT, where given."""
    if isinstance(kind, T.StructType):
        members = (f"{quoted(one.name)}: {sql_type(one.dataType, variant)}" for one in kind.fields)
        return f"struct<{', '.join(members)}>"
    if isinstance(kind, T.ArrayType):
        return f"array<{sql_type(kind.elementType, variant)}>"
    if isinstance(kind, T.MapType):
        return f"map<{sql_type(kind.keyType)}, {sql_type(kind.valueType, variant)}>"
    return variant if isinstance(kind, T.VariantType) else kind.simpleString()
