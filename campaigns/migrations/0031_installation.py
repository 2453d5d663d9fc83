"""The identifier of this perfdash. One that has measured keeps what the names of its hosts have had so far."""

import hmac
from hashlib import sha256

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import campaigns.models.installation


def keep_name_of_hosts(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Store what was computed from SECRET_KEY before, so that hosts of interrupted runs are still known."""
    key = _secret_key()
    if key and apps.get_model("campaigns", "Attempt").objects.exists():
        digest = hmac.new(key.encode(), b"names of registered hosts", sha256)
        apps.get_model("campaigns", "Installation").objects.create(
            pk=1, name=digest.hexdigest()[:8]
        )


def _secret_key() -> str:
    """Return the key; empty where this process has none, which Django refuses to return."""
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:
        return ""


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0030_unlimited_levels"),
    ]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        default=campaigns.models.installation.new_name, editable=False, max_length=8
                    ),
                ),
            ],
        ),
        migrations.RunPython(keep_name_of_hosts, migrations.RunPython.noop),
    ]
