from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0036_guessed_factors'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='configurations',
            field=models.JSONField(blank=True, help_text='Named sets of settings that are levels; `planning.configurations`.', null=True),
        ),
    ]
