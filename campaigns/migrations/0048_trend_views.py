# Views of the points of trends, and of what is seen in them.

from django.db import migrations

from campaigns.migrations._views import drop_views, make_views


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0047_line_hooks'),
    ]

    operations = [
        drop_views(7),
        make_views(8),
    ]
