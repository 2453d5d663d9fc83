"""Machines of several targets as they were at launch, and views that name every target."""

from django.db import migrations, models

from campaigns.migrations._views import drop_views, make_views


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0016_several_targets'),
    ]

    operations = [
        drop_views(2),
        migrations.AddField(
            model_name='campaigntarget',
            name='machine',
            field=models.JSONField(blank=True, null=True),
        ),
        make_views(3),
    ]
