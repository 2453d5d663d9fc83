"""Results of other tools: what was sent, and the metrics that it declares."""

import campaigns.models.teams
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0005_results'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='DeclaredMetric',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('name', models.CharField(max_length=100)),
                ('label', models.CharField(max_length=100)),
                ('unit', models.CharField(max_length=20)),
                ('lower_is_better', models.BooleanField(null=True)),
                ('fidelity', models.CharField(choices=[('raw', 'measured here or raw values imported'), ('aggregated', 'aggregated before the import'), ('rounded', 'rounded before the import')], default='raw', max_length=20)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='metrics', to='campaigns.campaign')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='declared_metric_once')],
            },
        ),
        migrations.CreateModel(
            name='Submission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'waits to be read'), ('stored', 'stored'), ('refused', 'refused')], default='stored', max_length=20)),
                ('problem', models.TextField(blank=True, help_text='Why it was refused.')),
                ('format', models.CharField(blank=True, help_text='Of a file; empty: by REST.', max_length=50)),
                ('filename', models.CharField(blank=True, max_length=200)),
                ('digest', models.CharField(db_index=True, help_text='SHA-256 of what was sent.', max_length=64)),
                ('options', models.JSONField(default=dict)),
                ('runs', models.PositiveIntegerField(default=0)),
                ('values', models.PositiveIntegerField(default=0)),
                ('dropped', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, size=None)),
                ('info', models.JSONField(default=dict)),
                ('received_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('sent_at', models.DateTimeField(blank=True, help_text='To the worker that reads it.', null=True)),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='submissions', to='campaigns.campaign')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(default=campaigns.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, to='campaigns.team')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['id'], name='submissions_that_wait')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'stored', 'refused'])), name='submission_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state', 'stored'), _negated=True), ('campaign__isnull', False), _connector='OR'), name='stored_submission_has_a_campaign')],
            },
        ),
        migrations.CreateModel(
            name='SubmissionPart',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('content', models.BinaryField()),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='parts', to='campaigns.submission')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('submission', 'number'), name='submission_part_once')],
            },
        ),
    ]
