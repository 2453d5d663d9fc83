"""Puts the rows of a bundle into tables of their own, beside all others, that are gone afterwards.

Temporary tables hide those of the same name, and the search path knows no others: what is loaded
cannot meet what is stored, and nothing of it stays. An empty database, even one without tables, will do.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import islice

from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.db.models import Model

from campaigns.bundles.archive import Archive, Damaged
from campaigns.bundles.rows import as_row
from campaigns.bundles.tables import TABLES, Table
from campaigns.models import Campaign

APPS = ("contenttypes", "auth", "campaigns")


@contextmanager
def apart() -> Iterator[None]:
    """Have tables of our own, empty, until the end; whatever is done there is rolled back."""
    with transaction.atomic():
        with connection.schema_editor(collect_sql=True, atomic=False) as editor:
            for model in _models():
                editor.create_model(model)
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL search_path TO pg_temp")
            cursor.execute("\n".join(editor.collected_sql))
        try:
            yield
        finally:
            transaction.set_rollback(True)


def load(archive: Archive, folder: str) -> Campaign:
    """Load one campaign into the tables of `apart`. Raise Damaged where its rows do not fit together."""
    for table in TABLES:
        try:
            with transaction.atomic():
                _load(archive, folder + table.file, table)
        except DatabaseError as error:
            raise Damaged(f"{folder}{table.file} does not fit: {_words(error)}") from None
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except DatabaseError as error:
        raise Damaged(f"The rows in {folder} do not fit together: {_words(error)}") from None
    campaigns = list(Campaign.objects.all()[:2])
    if len(campaigns) != 1:
        raise Damaged(f"{folder}rows/campaign.ndjson holds {len(campaigns)} campaigns, not one.")
    return campaigns[0]


def _load(archive: Archive, name: str, table: Table) -> None:
    with closing(archive.lines(name)) as lines:
        rows = (as_row(table, found, f"{name}, line {n}") for n, found in lines)
        while some := list(islice(rows, table.chunk)):
            table.model._default_manager.bulk_create(some)


def _models() -> list[type[Model]]:
    """Those of the rows and all that belong to them, each before those that refer to it."""
    found = [model for label in APPS for model in apps.get_app_config(label).get_models()]
    return [model for model in found if model._meta.managed and not model._meta.proxy]


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
