"""Servers, their settings, and the steps that reset them."""

import campaigns.models.teams
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0001_accounts'),
    ]

    operations = [
        migrations.CreateModel(
            name='Target',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('family', models.CharField(max_length=30)),
                ('base_url', models.URLField(max_length=500)),
                ('address', models.CharField(db_index=True, max_length=300)),
                ('username', models.CharField(blank=True, max_length=200)),
                ('password', models.TextField(blank=True, editable=False)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('confirmed_rule', models.CharField(blank=True, max_length=300)),
                ('notes', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('health', models.CharField(choices=[('unknown', 'not probed yet'), ('ready', 'ready'), ('unreachable', 'unreachable'), ('refused', 'not allowed')], default='unknown', max_length=20)),
                ('health_message', models.TextField(blank=True)),
                ('probed_at', models.DateTimeField(blank=True, null=True)),
                ('proofs', models.JSONField(blank=True, default=list)),
                ('team', models.ForeignKey(default=campaigns.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, to='campaigns.team')),
                ('is_production', models.BooleanField(default=False)),
                ('max_concurrency', models.PositiveIntegerField(blank=True, null=True)),
                ('max_requests_per_second', models.FloatField(blank=True, null=True)),
                ('quiet_hours', models.TextField(blank=True)),
                ('quiet_zone', models.CharField(default='UTC', max_length=60)),
                ('probe_began_at', models.DateTimeField(blank=True, help_text='Null: none is on.', null=True)),
                ('ca_bundle', models.TextField(blank=True)),
                ('client_certificate', models.TextField(blank=True)),
                ('client_key', models.TextField(blank=True, editable=False)),
                ('hardware', models.TextField(blank=True)),
                ('is_dedicated', models.BooleanField(default=False)),
                ('verify_tls', models.BooleanField(default=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.UniqueConstraint(fields=('team', 'name'), name='target_name_once_in_a_team'), models.CheckConstraint(condition=models.Q(models.Q(('max_concurrency', 0), _negated=True), models.Q(('max_requests_per_second__lte', 0), _negated=True)), name='limits_of_a_target_let_something_through')],
            },
        ),
        migrations.CreateModel(
            name='Setting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=80)),
                ('label', models.CharField(blank=True, max_length=100)),
                ('unit', models.CharField(blank=True, max_length=20)),
                ('type', models.CharField(choices=[('integer', 'integer'), ('number', 'number'), ('text', 'text'), ('choice', 'choice')], default='integer', max_length=10)),
                ('minimum', models.FloatField(blank=True, null=True)),
                ('maximum', models.FloatField(blank=True, null=True)),
                ('choices', models.JSONField(blank=True, default=list)),
                ('hard_to_change', models.BooleanField(default=True)),
                ('apply', models.JSONField()),
                ('read_back', models.JSONField()),
                ('hand_value', models.JSONField(blank=True, null=True)),
                ('hand_at', models.DateTimeField(blank=True, null=True)),
                ('looked_at', models.DateTimeField(blank=True, null=True)),
                ('look_value', models.JSONField(blank=True, null=True)),
                ('look_failure', models.TextField(blank=True)),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='setting_rows', to='campaigns.target')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('target', 'name'), name='setting_once_a_target')],
            },
        ),
        migrations.CreateModel(
            name='SshLogin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('host', models.CharField(max_length=253)),
                ('port', models.PositiveIntegerField(default=22)),
                ('username', models.CharField(max_length=200)),
                ('key', models.TextField(blank=True, editable=False)),
                ('password', models.TextField(blank=True, editable=False)),
                ('host_key', models.TextField(blank=True)),
                ('offered_key', models.TextField(blank=True)),
                ('confirmed_rule', models.CharField(blank=True, max_length=300)),
                ('looked_at', models.DateTimeField(blank=True, null=True)),
                ('look_failure', models.TextField(blank=True)),
                ('target', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='ssh', to='campaigns.target')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('port__gte', 1), ('port__lte', 65535)), name='ssh_port_is_a_port')],
            },
        ),
        migrations.CreateModel(
            name='TargetStep',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('reset', 'reset'), ('ready', 'readiness')], default='reset', max_length=10)),
                ('position', models.PositiveIntegerField(default=1)),
                ('name', models.CharField(max_length=80)),
                ('action', models.JSONField()),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='campaigns.target')),
            ],
            options={
                'ordering': ['purpose', 'position', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('target', 'name'), name='target_step_once'), models.CheckConstraint(condition=models.Q(('purpose__in', ['reset', 'ready'])), name='step_purpose_known')],
            },
        ),
    ]
