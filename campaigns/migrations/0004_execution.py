"""Runs and their attempts, leases, workers, generators, and manual steps."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0003_planning'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('purpose', models.CharField(choices=[('measured', 'measured'), ('warm_up', 'warm-up'), ('trial', 'try-out')], default='measured', max_length=20)),
                ('state', models.CharField(choices=[('planned', 'planned'), ('running', 'running'), ('done', 'done'), ('failed', 'failed'), ('void', 'void'), ('cancelled', 'cancelled')], default='planned', max_length=20)),
                ('reason', models.TextField(blank=True, help_text='Why it is failed, void or cancelled.')),
                ('started_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('attempts_allowed', models.PositiveIntegerField(default=3)),
                ('block', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='campaigns.block')),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='runs', to='campaigns.campaign')),
                ('cell', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='campaigns.cell')),
                ('external_id', models.CharField(blank=True, help_text='By which whoever submitted it knows it.', max_length=100)),
                ('info', models.JSONField(blank=True, help_text='What else came with it.', null=True)),
            ],
            options={
                'ordering': ['position'],
                'indexes': [models.Index(fields=['campaign', 'state', 'position'], name='runs_by_state')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['planned', 'running', 'done', 'failed', 'void', 'cancelled'])), name='run_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['planned', 'running']), _negated=True), ('finished_at__isnull', True), _connector='OR'), name='open_run_has_not_ended'), models.UniqueConstraint(condition=models.Q(('purpose', 'trial'), _negated=True), fields=('campaign', 'position'), name='run_position_once'), models.UniqueConstraint(condition=models.Q(('purpose', 'trial')), fields=('campaign', 'position'), name='trial_position_once'), models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('campaign', 'external_id'), name='run_external_id_once')],
            },
        ),
        migrations.CreateModel(
            name='Attempt',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('state', models.CharField(choices=[('queued', 'queued'), ('running', 'running'), ('accepted', 'accepted'), ('failed', 'failed'), ('void', 'void'), ('lost', 'lost'), ('cancelled', 'cancelled')], default='queued', max_length=20)),
                ('phase', models.CharField(blank=True, choices=[('', 'not begun'), ('reset', 'reset'), ('apply', 'apply'), ('measure', 'measure'), ('verify', 'verify'), ('store', 'store')], default='', max_length=20)),
                ('reason', models.TextField(blank=True)),
                ('traceback', models.TextField(blank=True)),
                ('pool', models.CharField(max_length=50)),
                ('worker', models.CharField(blank=True, max_length=200)),
                ('host', models.CharField(blank=True, max_length=200)),
                ('token', models.BigIntegerField(help_text="Fencing token of the target's lease.")),
                ('cancel_requested_at', models.DateTimeField(blank=True, null=True)),
                ('interrupted_at', models.DateTimeField(blank=True, help_text='Its worker was asked to shut down.', null=True)),
                ('queued_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('measure_started_at', models.DateTimeField(blank=True, null=True)),
                ('measure_finished_at', models.DateTimeField(blank=True, null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('units_done', models.PositiveIntegerField(default=0)),
                ('units_failed', models.PositiveIntegerField(default=0)),
                ('failures', models.JSONField(default=dict)),
                ('health', models.CharField(blank=True, max_length=20)),
                ('health_reasons', models.JSONField(default=list)),
                ('health_figures', models.JSONField(default=dict)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='attempts', to='campaigns.run')),
                ('facts_unread', models.TextField(blank=True, help_text="Why the target's facts could not be read again after the run.")),
                ('stand_in', models.CharField(blank=True, help_text='What stood in for the target; empty: the real one.', max_length=200)),
            ],
            options={
                'ordering': ['run', 'number'],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'accepted', 'failed', 'void', 'lost', 'cancelled'])), name='attempt_state_known'), models.UniqueConstraint(fields=('run', 'number'), name='attempt_number_once'), models.UniqueConstraint(condition=models.Q(('state', 'accepted')), fields=('run',), name='one_accepted_attempt_a_run'), models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('run',), name='one_open_attempt_a_run'), models.CheckConstraint(condition=models.Q(('state', 'queued'), ('claimed_at__isnull', False), ('state', 'cancelled'), _connector='OR'), name='claimed_before_it_ends')],
            },
        ),
        migrations.CreateModel(
            name='TargetLease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holder', models.CharField(blank=True, help_text='In words.', max_length=200)),
                ('token', models.BigIntegerField(default=0)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('address', models.CharField(max_length=300, unique=True)),
                ('attempt', models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='targetlease', to='campaigns.attempt')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='GeneratorLease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('holder', models.CharField(blank=True, help_text='In words.', max_length=200)),
                ('token', models.BigIntegerField(default=0)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('host', models.CharField(max_length=200, unique=True)),
                ('attempt', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='generator_leases', to='campaigns.attempt')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Generator',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('part', models.PositiveIntegerField(default=1, help_text='Which of the loads that the attempt makes one after the other.')),
                ('number', models.PositiveIntegerField(help_text='1 to as many as there are.')),
                ('pool', models.CharField(help_text='The queue of the workers that may take it.', max_length=50)),
                ('state', models.CharField(choices=[('wanted', 'wanted'), ('claimed', 'claimed'), ('ready', 'ready'), ('started', 'started'), ('done', 'done'), ('failed', 'failed'), ('late', 'late')], default='wanted', max_length=20)),
                ('reason', models.TextField(blank=True, help_text='Why it waits, failed or came late.')),
                ('worker', models.CharField(blank=True, max_length=200)),
                ('host', models.CharField(blank=True, max_length=200)),
                ('module', models.CharField(help_text='The engine program.', max_length=200)),
                ('request', models.TextField(blank=True, help_text='What the program is asked for, encrypted; gone when the attempt ends.')),
                ('clock_offset_seconds', models.FloatField(blank=True, help_text="The database's clock minus the host's.", null=True)),
                ('clock_uncertainty_seconds', models.FloatField(blank=True, null=True)),
                ('wanted_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('sent_at', models.DateTimeField(blank=True, help_text='When a message was last sent.', null=True)),
                ('claimed_at', models.DateTimeField(blank=True, null=True)),
                ('ready_at', models.DateTimeField(blank=True, null=True)),
                ('start_at', models.DateTimeField(blank=True, help_text='The same for all.', null=True)),
                ('finished_at', models.DateTimeField(blank=True, null=True)),
                ('stop_at', models.DateTimeField(blank=True, help_text='It was told to stop.', null=True)),
                ('expires_at', models.DateTimeField(blank=True, help_text='Its load has ended by then, unless this is renewed.', null=True)),
                ('result', models.BinaryField(blank=True, help_text='What the program reported but for samples: zlib, JSON.', null=True)),
                ('samples', models.BinaryField(blank=True, help_text='Its samples: zlib, JSON; gone when the attempt ends.', null=True)),
                ('health', models.CharField(blank=True, max_length=20)),
                ('health_reasons', models.JSONField(default=list)),
                ('health_figures', models.JSONField(default=dict)),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='generators', to='campaigns.attempt')),
            ],
            options={
                'ordering': ['attempt', 'part', 'number'],
                'indexes': [models.Index(condition=models.Q(('state__in', ['wanted', 'claimed', 'ready', 'started'])), fields=['attempt'], name='open_generators')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['wanted', 'claimed', 'ready', 'started', 'done', 'failed', 'late'])), name='generator_state_known'), models.UniqueConstraint(fields=('attempt', 'part', 'number'), name='generator_number_once'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['claimed', 'ready', 'started', 'done']), _negated=True), models.Q(('claimed_at__isnull', False), ('host__gt', ''), ('worker__gt', '')), _connector='OR'), name='generator_claimed_by_somebody'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['started', 'done']), _negated=True), ('start_at__isnull', False), _connector='OR'), name='generator_starts_when_told'), models.CheckConstraint(condition=models.Q(models.Q(('state__in', ['failed', 'late']), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='generator_says_why')],
            },
        ),
        migrations.CreateModel(
            name='Worker',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=200, unique=True)),
                ('host', models.CharField(max_length=200)),
                ('pools', models.JSONField(default=list)),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('lacks', models.JSONField(default=dict)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Dispatcher',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ticked_at', models.DateTimeField(blank=True, null=True)),
                ('hold_until', models.DateTimeField(blank=True, null=True)),
                ('database_started_at', models.DateTimeField(blank=True, null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Exclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('withdrawn_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='exclusions', to='campaigns.run')),
            ],
            options={
                'constraints': [models.UniqueConstraint(condition=models.Q(('withdrawn_at__isnull', True)), fields=('run',), name='one_exclusion_a_run'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='exclusion_says_why')],
            },
        ),
        migrations.CreateModel(
            name='LogLine',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('tone', models.CharField(blank=True, choices=[('', 'plain'), ('now', 'going on'), ('bad', 'needs a look')], default='', max_length=5)),
                ('text', models.TextField()),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='log', to='campaigns.campaign')),
                ('run', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='log', to='campaigns.run')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='FoundSetting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.JSONField()),
                ('found_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('restore', models.BooleanField(default=True)),
                ('restored_at', models.DateTimeField(blank=True, null=True)),
                ('tries', models.PositiveIntegerField(default=0)),
                ('claimed_until', models.DateTimeField(blank=True, null=True)),
                ('given_up', models.TextField(blank=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='found_settings', to='campaigns.campaign')),
                ('setting', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='found', to='campaigns.setting')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('given_up', ''), ('restored_at__isnull', True)), fields=('campaign', 'setting'), name='found_setting_once')],
            },
        ),
        migrations.CreateModel(
            name='HandRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('attempt_number', models.PositiveIntegerField(default=1)),
                ('value', models.JSONField(blank=True, null=True)),
                ('words', models.TextField(blank=True)),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('done_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='hand_requests', to='campaigns.campaign')),
                ('done_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='hand_requests', to='campaigns.run')),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='hand_requests', to='campaigns.target')),
                ('setting', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='campaigns.setting')),
                ('step', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, to='campaigns.targetstep')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('setting__isnull', True), ('step__isnull', True), _connector='XOR'), name='hand_for_a_setting_or_a_step')],
            },
        ),
    ]
