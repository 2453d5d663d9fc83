# A view of alerts, as Grafana shows annotations.

from django.db import migrations

from campaigns.migrations._views import drop_views, make_views


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0049_alerts'),
    ]

    operations = [
        drop_views(8),
        make_views(9),
    ]
