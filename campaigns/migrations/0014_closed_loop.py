"""The closed loop that was declared with submitted runs."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0013_builds'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='closed_loop',
            field=models.JSONField(blank=True, help_text='Declared with submitted runs; `planning.closed_loops`.', null=True),
        ),
    ]
