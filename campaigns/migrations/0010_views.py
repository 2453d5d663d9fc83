"""Views for Grafana and others that read the database."""

from django.db import migrations

from campaigns.migrations._views import make_views


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0009_notifications'),
    ]

    operations = [
        make_views(1),
    ]
