"""Servers, their settings, and the steps that reset them."""

import campaigns.models.teams
import django.core.validators
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
                ('base_url', models.CharField(help_text='http:// or https://, host and port; no user name in it.', max_length=500, verbose_name='base URL')),
                ('address', models.CharField(db_index=True, max_length=300)),
                ('username', models.CharField(blank=True, help_text='For kinds that sign in at the server; the downloader does not.', max_length=200, verbose_name='user name')),
                ('password', models.TextField(blank=True, editable=False)),
                ('settings', models.JSONField(blank=True, default=dict)),
                ('confirmed_rule', models.CharField(blank=True, max_length=300)),
                ('notes', models.TextField(blank=True, max_length=2000)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
                ('health', models.CharField(choices=[('unknown', 'not probed yet'), ('ready', 'ready'), ('unreachable', 'unreachable'), ('refused', 'not allowed')], default='unknown', max_length=20)),
                ('health_message', models.TextField(blank=True)),
                ('probed_at', models.DateTimeField(blank=True, null=True)),
                ('proofs', models.JSONField(blank=True, default=list)),
                ('team', models.ForeignKey(default=campaigns.models.teams.default_team, on_delete=django.db.models.deletion.PROTECT, to='campaigns.team')),
                ('is_production', models.BooleanField(default=False, help_text='Others depend on it: its name must be typed before it is loaded.', verbose_name='this is a production server')),
                ('max_concurrency', models.PositiveIntegerField(blank=True, help_text='A campaign that asks for more is refused. Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)], verbose_name='most requests at a time')),
                ('max_requests_per_second', models.FloatField(blank=True, help_text='No run begins more of them in any second. Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(0.01), django.core.validators.MaxValueValidator(1000000)], verbose_name='most requests a second')),
                ('quiet_hours', models.TextField(blank=True, help_text='Nothing loads the server then. One window per line: Mon-Fri 08:00-18:00, or Sat,Sun 00:00-24:00, or daily 22:00-06:00. Empty: none.', max_length=5000)),
                ('quiet_zone', models.CharField(blank=True, default='UTC', help_text='Such as Europe/Berlin; summer time is respected.', max_length=60, verbose_name='time zone of the quiet hours')),
                ('probe_began_at', models.DateTimeField(blank=True, help_text='Null: none is on.', null=True)),
                ('ca_bundle', models.TextField(blank=True, help_text='PEM. For a server whose certificate no public authority has signed.', max_length=200000, verbose_name='CA bundle')),
                ('client_certificate', models.TextField(blank=True, help_text='PEM. In place of user name and password, where the server takes it.', max_length=50000)),
                ('client_key', models.TextField(blank=True, editable=False)),
                ('hardware', models.TextField(blank=True, help_text='What it runs on, in your words; stored with every run measured from now on.', max_length=2000, verbose_name='hardware and network')),
                ('is_dedicated', models.BooleanField(default=False, help_text='A kind that empties its server may then delete unclaimed content at once. Never tick it for a server with content of others.', verbose_name='this server belongs to perfdash alone')),
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
                ('name', models.CharField(help_text='As campaigns call it, such as puma_workers.', max_length=80)),
                ('label', models.CharField(blank=True, help_text='As people read it. Empty: the name.', max_length=100)),
                ('unit', models.CharField(blank=True, max_length=20)),
                ('type', models.CharField(choices=[('integer', 'integer'), ('number', 'number'), ('text', 'text'), ('choice', 'choice')], default='integer', max_length=10)),
                ('minimum', models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(-1000000000000000.0), django.core.validators.MaxValueValidator(1000000000000000.0)])),
                ('maximum', models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(-1000000000000000.0), django.core.validators.MaxValueValidator(1000000000000000.0)])),
                ('choices', models.JSONField(blank=True, default=list)),
                ('hard_to_change', models.BooleanField(default=True, help_text='Changing it costs much, such as a restart: campaigns change it as seldom as they can.')),
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
                ('host', models.CharField(help_text='Name or address of the machine.', max_length=253)),
                ('port', models.PositiveIntegerField(blank=True, default=22, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)])),
                ('username', models.CharField(max_length=200, verbose_name='user name')),
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
                ('purpose', models.CharField(choices=[('reset', 'reset'), ('ready', 'readiness')], default='reset', help_text='A reset is done before each run; readiness is awaited after a reset or a setting.', max_length=10, verbose_name='when')),
                ('position', models.PositiveIntegerField(blank=True, default=1, help_text='Lower ones come first.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)])),
                ('name', models.CharField(help_text='Such as “restart the services”; it names its proof.', max_length=80)),
                ('action', models.JSONField()),
                ('target', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='steps', to='campaigns.target')),
            ],
            options={
                'ordering': ['purpose', 'position', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('target', 'name'), name='target_step_once'), models.CheckConstraint(condition=models.Q(('purpose__in', ['reset', 'ready'])), name='step_purpose_known')],
            },
        ),
    ]
