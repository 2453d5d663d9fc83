"""Answers as text for readers of the views, since findings hold none."""

import django.db.models.deletion
from django.db import migrations, models

from campaigns.migrations._views import drop_views, make_views

COPY = """
INSERT INTO campaigns_publishedanswer (campaign_id, sentence, caveat)
SELECT campaign_id, result ->> 'sentence', coalesce(result ->> 'caveat', '')
FROM campaigns_finding
WHERE name = 'answer' AND result ? 'sentence';
"""


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0010_views'),
    ]

    operations = [
        drop_views(1),
        migrations.CreateModel(
            name='PublishedAnswer',
            fields=[
                ('campaign', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='+', serialize=False, to='campaigns.campaign')),
                ('sentence', models.TextField()),
                ('caveat', models.TextField()),
            ],
        ),
        migrations.RunSQL(COPY, migrations.RunSQL.noop),
        make_views(2),
    ]
