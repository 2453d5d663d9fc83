"""A second yes before production is loaded; whose each submission is: its campaign's team."""

import campaigns.models.teams
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


OF_THEIR_CAMPAIGN = """
UPDATE campaigns_submission SET team_id = coalesce(
    (SELECT team_id FROM campaigns_campaign WHERE id = campaigns_submission.campaign_id),
    (SELECT id FROM campaigns_team WHERE is_default)
);
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0023_notices'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='team',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to='campaigns.team'),
        ),
        migrations.RunSQL(OF_THEIR_CAMPAIGN, migrations.RunSQL.noop),
        migrations.AlterField(
            model_name='submission',
            name='team',
            field=models.ForeignKey(default=campaigns.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, to='campaigns.team'),
        ),
        migrations.CreateModel(
            name='LaunchRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(choices=[('launch', 'launch'), ('try', 'try-out'), ('extend', 'extension')], max_length=10)),
                ('options', models.JSONField(default=dict)),
                ('definition_hash', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('waiting', 'waits for a second yes'), ('approved', 'approved'), ('refused', 'refused'), ('withdrawn', 'withdrawn'), ('outdated', 'void: the definition was changed')], default='waiting', max_length=10)),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('decided_at', models.DateTimeField(null=True)),
                ('words', models.TextField(blank=True, help_text='Why it was refused or approved.')),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='launches_asked', to=settings.AUTH_USER_MODEL)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='launch_requests', to='campaigns.campaign')),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='launches_decided', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('state', 'waiting')), fields=('campaign',), name='one_launch_request_waits'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'approved'), _negated=True), models.Q(('decided_by__isnull', False), models.Q(('decided_by', models.F('asked_by')), _negated=True)), _connector='OR'), name='second_yes_is_another_persons')],
            },
        ),
    ]
