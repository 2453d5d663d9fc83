"""Drop indexes that another one begins with, and those for prefixes of texts that nobody looks for."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0021_analysis_seconds'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name='attempt',
            name='run',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='campaigns.run'),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='action',
            field=models.CharField(max_length=40),
        ),
        migrations.AlterField(
            model_name='auditevent',
            name='team',
            field=models.ForeignKey(db_index=False, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='campaigns.team'),
        ),
        migrations.AlterField(
            model_name='block',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='campaigntarget',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='places', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='cell',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='declaredmetric',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='metrics', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='distribution',
            name='attempt',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='distributions', to='campaigns.attempt'),
        ),
        migrations.AlterField(
            model_name='environmentfact',
            name='attempt',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='environment', to='campaigns.attempt'),
        ),
        migrations.AlterField(
            model_name='factor',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='factors', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='finding',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='level',
            name='factor',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='levels', to='campaigns.factor'),
        ),
        migrations.AlterField(
            model_name='phase',
            name='attempt',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='phases', to='campaigns.attempt'),
        ),
        migrations.AlterField(
            model_name='run',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='series',
            name='attempt',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='series', to='campaigns.attempt'),
        ),
        migrations.AlterField(
            model_name='session',
            name='campaign',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='submission',
            name='digest',
            field=models.CharField(help_text='SHA-256 of what was sent.', max_length=64),
        ),
        migrations.AddIndex(
            model_name='auditevent',
            index=models.Index(fields=['action'], name='audit_of_an_action'),
        ),
        migrations.AddIndex(
            model_name='submission',
            index=models.Index(condition=models.Q(('digest', ''), _negated=True), fields=['digest'], name='submissions_by_digest'),
        ),
    ]
