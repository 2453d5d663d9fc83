"""Values inside a column of JSON, taken out by the database."""

from django.db.models import F, Func, JSONField, Value


def values_at(column: str, path: str) -> Func:
    """Return the expression of all values at a path of SQL/JSON, such as `$.cells[*].levels`: an empty list without any."""
    return Func(F(column), Value(path), function="jsonb_path_query_array", output_field=JSONField())
