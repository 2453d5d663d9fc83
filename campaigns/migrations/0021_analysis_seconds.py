"""What the last analysis of a campaign took, which decides when the next one is due."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0020_versions_of_workers'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='analysis_seconds',
            field=models.FloatField(blank=True, help_text='What the last analysis took.', null=True),
        ),
    ]
