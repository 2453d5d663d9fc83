"""What lists of campaigns show of an answer, and the indexes of lists."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


COMPUTED_AT = """
UPDATE campaigns_publishedanswer p SET computed_at = f.computed_at
FROM campaigns_finding f WHERE f.campaign_id = p.campaign_id AND f.name = 'answer';
"""


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0017_machines'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='publishedanswer',
            name='badges',
            field=models.JSONField(db_default=[]),
        ),
        migrations.AddField(
            model_name='publishedanswer',
            name='computed_at',
            field=models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True),
        ),
        migrations.AddField(
            model_name='publishedanswer',
            name='means',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(null=True), db_default=[], size=None),
        ),
        migrations.AddField(
            model_name='publishedanswer',
            name='version',
            field=models.CharField(blank=True, db_default='', max_length=40),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('stand_in', ''), _negated=True), fields=['run'], name='attempts_on_simulators'),
        ),
        migrations.AddIndex(
            model_name='campaign',
            index=models.Index(fields=['-created_at', '-id'], name='campaigns_newest_first'),
        ),
        migrations.RunSQL(COMPUTED_AT, migrations.RunSQL.noop),
    ]
