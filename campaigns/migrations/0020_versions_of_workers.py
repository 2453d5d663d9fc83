"""The version of perfdash that each worker has."""

from django.db import migrations, models

import campaigns.models.runs


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0019_stored_metrics'),
    ]

    operations = [
        migrations.AddField(
            model_name='worker',
            name='version',
            field=models.CharField(blank=True, db_default='', default=campaigns.models.runs.own_version, max_length=50),
        ),
    ]
