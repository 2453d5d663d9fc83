"""Roles of factors, the criterion and the search of a campaign, phases of blocks."""

from django.db import migrations, models

WORK = """
UPDATE campaigns_factor SET role = CASE WHEN is_work THEN 'work' ELSE '' END;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0011_published_answers'),
    ]

    operations = [
        migrations.AddField(
            model_name='factor',
            name='role',
            field=models.CharField(blank=True, choices=[('load', 'how much is asked of the target at once'), ('setting', 'what somebody may choose'), ('work', 'what is done'), ('instrument', 'how it is measured'), ('target', 'which target'), ('build', "which version of the target's software")], default='', help_text='What its levels are; empty: what the kind of test declares.', max_length=20),
            preserve_default=False,
        ),
        migrations.RunSQL(WORK, migrations.RunSQL.noop),
        migrations.RemoveField(model_name='factor', name='is_work'),
        migrations.AddField(
            model_name='block',
            name='phase',
            field=models.CharField(blank=True, choices=[('', 'planned'), ('explore', 'explore'), ('confirm', 'confirm')], default='', max_length=10),
        ),
        migrations.AddField(
            model_name='campaign',
            name='criterion',
            field=models.JSONField(default=dict, help_text='Conditions that a cell has to keep; `planning.criterion`.'),
        ),
        migrations.AddField(
            model_name='campaign',
            name='search',
            field=models.JSONField(blank=True, help_text='Of a search for capacity; `planning.search`.', null=True),
        ),
    ]
