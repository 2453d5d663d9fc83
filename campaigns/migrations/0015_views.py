from django.db import migrations

from campaigns.migrations._views import make_views


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0014_measurement_limits'),
    ]

    operations = [
        make_views(1),
    ]
