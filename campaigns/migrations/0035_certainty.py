# The second of the three lines of an answer, and how many caveats there are beside the worst one.

from django.db import migrations, models

from campaigns.migrations._views import drop_views, make_views


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0034_waits_for_servers'),
    ]

    operations = [
        drop_views(6),
        migrations.AddField(
            model_name='publishedanswer',
            name='certainty',
            field=models.TextField(db_default=''),
        ),
        migrations.AddField(
            model_name='publishedanswer',
            name='more_caveats',
            field=models.PositiveIntegerField(db_default=0),
        ),
        make_views(7),
    ]
