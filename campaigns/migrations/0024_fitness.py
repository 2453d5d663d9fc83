import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0023_programs'),
    ]

    operations = [
        migrations.AddField(
            model_name='campaign',
            name='required_checks',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, help_text='Checks of fitness that its targets must have passed; `planning.fitness`.', size=None),
        ),
        migrations.AddField(
            model_name='campaign',
            name='unfit_reason',
            field=models.CharField(blank=True, help_text='Why it is launched though one is missing.', max_length=500),
        ),
        migrations.AddField(
            model_name='campaign',
            name='caveat',
            field=models.TextField(blank=True, help_text='Which checks were missing at its launch, and that reason.'),
        ),
    ]
