"""The identifier of this perfdash. One that has measured keeps what the names of its hosts have had so far."""

import hmac
from hashlib import sha256

from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

import campaigns.models.installation


def keep_name_of_hosts(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Store what was computed from SECRET_KEY before, so that hosts of interrupted runs are still known."""
    if settings.SECRET_KEY and apps.get_model("campaigns", "Attempt").objects.exists():
        digest = hmac.new(settings.SECRET_KEY.encode(), b"names of registered hosts", sha256)
        apps.get_model("campaigns", "Installation").objects.create(
            pk=1, name=digest.hexdigest()[:8]
        )


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
