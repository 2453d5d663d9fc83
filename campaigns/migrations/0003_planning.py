"""Campaigns: templates, designs, plans, amendments and launch requests."""

import campaigns.models.teams
import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0002_targets'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Template',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='As your team will look for it.', max_length=120)),
                ('notes', models.TextField(blank=True, help_text='What it is for, and what to change each time.', max_length=2000)),
                ('definition', models.JSONField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('made_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='templates', to='campaigns.team')),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('retired_at', None)), fields=('team', 'name'), name='template_name_once_in_a_team')],
            },
        ),
        migrations.CreateModel(
            name='Campaign',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('question', models.CharField(max_length=500)),
                ('kind', models.CharField(max_length=50)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), blank=True, default=list, size=None)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('running', 'Running'), ('paused', 'Paused'), ('cancelling', 'Cancelling'), ('cancelled', 'Cancelled'), ('finished', 'Finished')], db_index=True, default='draft', max_length=20)),
                ('state_reason', models.TextField(blank=True)),
                ('parameters', models.JSONField(default=dict, help_text='The fixed parameters, by name.')),
                ('excluded', models.JSONField(default=list, help_text='Combinations of levels left out.')),
                ('order', models.CharField(choices=[('interleaved', 'Interleaved'), ('paired', 'Paired'), ('blocked', 'Blocked'), ('random', 'Random')], default='interleaved', max_length=20)),
                ('paired_factor', models.CharField(blank=True, max_length=80)),
                ('baseline', models.JSONField(blank=True, help_text='Level of the paired factor.', null=True)),
                ('repetitions', models.PositiveIntegerField(default=3)),
                ('warm_ups', models.PositiveIntegerField(default=0)),
                ('cool_down_seconds', models.FloatField(default=0)),
                ('run_limit_seconds', models.FloatField(default=3600)),
                ('seed', models.BigIntegerField(default=1)),
                ('pool', models.CharField(default='measure', max_length=50)),
                ('primary_metric', models.CharField(max_length=100)),
                ('smallest_effect', models.FloatField(default=0.05)),
                ('margin', models.FloatField(default=0.02)),
                ('stop_rule', models.CharField(choices=[('fixed', 'Fixed number of blocks'), ('precision', 'Until precise enough')], default='fixed', max_length=20)),
                ('source', models.CharField(blank=True, help_text='Where an import came from.', max_length=300)),
                ('fidelity', models.CharField(choices=[('raw', 'measured here or raw values imported'), ('aggregated', 'aggregated before the import'), ('rounded', 'rounded before the import')], default='raw', max_length=20)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('launched_at', models.DateTimeField(blank=True, null=True)),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('not_before', models.DateTimeField(blank=True, help_text='End of the cool-down.', null=True)),
                ('analysis_requested_at', models.DateTimeField(blank=True, null=True)),
                ('analysis_sent_at', models.DateTimeField(blank=True, help_text='To a worker; then its last sign of life.', null=True)),
                ('author', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='campaigns', to=settings.AUTH_USER_MODEL)),
                ('clone_of', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='clones', to='campaigns.campaign')),
                ('target', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, to='campaigns.target')),
                ('team', models.ForeignKey(default=campaigns.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, to='campaigns.team')),
                ('counted_from', models.DateTimeField(blank=True, help_text='Launch or resumption: failures count from here, the budget from the first run after.', null=True)),
                ('max_consecutive_failures', models.PositiveIntegerField(default=5, help_text='So many runs failed or void one after another: it pauses.')),
                ('max_failed_share', models.FloatField(default=0.5, help_text='Of the runs that ended; more of them failed or void: it pauses.')),
                ('queue_place', models.BigIntegerField(blank=True, help_text='Campaigns of one target go first with the lower one.', null=True)),
                ('time_budget_seconds', models.FloatField(blank=True, help_text='From the first run after launch or resumption to the end of the last one.', null=True)),
                ('counted_after', models.BigIntegerField(default=0, help_text='The last attempt that was over by then; those after it count, whatever clocks say.')),
                ('stop_most', models.PositiveIntegerField(default=30, help_text='Blocks, however precise.')),
                ('stop_width', models.FloatField(default=0.03, help_text='Precise enough: half the interval of every change, a share of 1.')),
                ('primary_contrast', models.JSONField(blank=True, help_text='factor, candidate, baseline, and `at`: levels of other factors; none: all count.', null=True)),
                ('external_id', models.CharField(blank=True, help_text='By which whoever submits it knows it.', max_length=100)),
                ('settings_afterwards', models.CharField(choices=[('restore', 'Set them back to what they were'), ('keep', 'Leave them as the last run had them')], default='restore', help_text="What becomes of the target's settings at the end.", max_length=10)),
                ('failed_limit', models.FloatField(default=0.05, help_text='Of the work of a cell: above it there is no number to judge.')),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
                ('template', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='campaigns', to='campaigns.template')),
                ('analysis_began_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'running', 'paused', 'cancelling', 'cancelled', 'finished'])), name='campaign_state_known'), models.CheckConstraint(condition=models.Q(('run_limit_seconds__gt', 0)), name='run_limit_positive'), models.CheckConstraint(condition=models.Q(('time_budget_seconds__lte', 0), _negated=True), name='time_budget_positive'), models.CheckConstraint(condition=models.Q(('max_failed_share__gt', 0), ('max_failed_share__lte', 1)), name='failed_share_is_a_share'), models.CheckConstraint(condition=models.Q(('max_consecutive_failures__gte', 1)), name='some_failures_in_a_row'), models.CheckConstraint(condition=models.Q(('repetitions__gte', 1)), name='at_least_one_repetition'), models.CheckConstraint(condition=models.Q(('cool_down_seconds__gte', 0)), name='cool_down_not_negative'), models.CheckConstraint(condition=models.Q(('margin__gt', 0), ('smallest_effect__gt', 0)), name='effect_and_margin_positive'), models.CheckConstraint(condition=models.Q(('state', 'draft'), ('launched_at__isnull', False), _connector='OR'), name='launched_before_it_leaves_draft'), models.CheckConstraint(condition=models.Q(models.Q(('order', 'paired'), _negated=True), models.Q(('paired_factor', ''), _negated=True), _connector='OR'), name='paired_order_names_its_factor'), models.CheckConstraint(condition=models.Q(('failed_limit__gt', 0), ('failed_limit__lte', 1)), name='failed_limit_is_a_share'), models.UniqueConstraint(condition=models.Q(('external_id', ''), _negated=True), fields=('team', 'external_id'), name='external_id_once_a_team')],
            },
        ),
        migrations.CreateModel(
            name='Factor',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('position', models.PositiveIntegerField()),
                ('hard_to_change', models.BooleanField(default=False)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='factors', to='campaigns.campaign')),
                ('is_work', models.BooleanField(default=False, help_text='Submitted: it says what is done, and is not compared.')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='factor_once'), models.UniqueConstraint(fields=('campaign', 'position'), name='factor_position_once')],
            },
        ),
        migrations.CreateModel(
            name='Level',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('value', models.JSONField()),
                ('factor', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='levels', to='campaigns.factor')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('factor', 'position'), name='level_position_once'), models.UniqueConstraint(fields=('factor', 'value'), name='level_value_once')],
            },
        ),
        migrations.CreateModel(
            name='Cell',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('levels_by_factor', models.JSONField(default=dict)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cells', to='campaigns.campaign')),
                ('levels', models.ManyToManyField(related_name='cells', to='campaigns.level')),
                ('received', models.PositiveIntegerField(default=0, help_text='Runs that came from outside.')),
            ],
            options={
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'position'), name='cell_position_once'), models.UniqueConstraint(fields=('campaign', 'levels_by_factor'), name='cell_combination_once')],
            },
        ),
        migrations.CreateModel(
            name='Session',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('launch', 'launch'), ('extension', 'extension'), ('trial', 'try-out'), ('import', 'import')], max_length=20)),
                ('started_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sessions', to='campaigns.campaign')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='session_number_once')],
            },
        ),
        migrations.CreateModel(
            name='Block',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('repetition', models.PositiveIntegerField()),
                ('stratum', models.JSONField(default=dict)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='campaigns.campaign')),
                ('session', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='campaigns.session')),
            ],
            options={
                'ordering': ['number'],
                'constraints': [models.UniqueConstraint(fields=('campaign', 'number'), name='block_number_once')],
            },
        ),
        migrations.CreateModel(
            name='Amendment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('field', models.CharField(max_length=50)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, to=settings.AUTH_USER_MODEL)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='amendments', to='campaigns.campaign')),
            ],
        ),
        migrations.CreateModel(
            name='LaunchRequest',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(choices=[('launch', 'launch'), ('try', 'try-out'), ('extend', 'extension'), ('again', 'repetition of a run')], max_length=10)),
                ('options', models.JSONField(default=dict)),
                ('definition_hash', models.CharField(max_length=64)),
                ('state', models.CharField(choices=[('waiting', 'waits for approval'), ('approved', 'approved'), ('refused', 'refused'), ('withdrawn', 'withdrawn'), ('outdated', 'void: the definition was changed')], default='waiting', max_length=10)),
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
