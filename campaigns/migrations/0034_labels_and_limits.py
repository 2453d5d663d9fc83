"""Labels, helps and limits of what people edit. Nothing changes in the database."""

import campaigns.models.targets
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0033_worker_lacks'),
    ]

    operations = [
        migrations.AlterField(
            model_name='retention',
            name='keep_samples_days',
            field=models.PositiveIntegerField(help_text='Empty: for ever.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='keep raw samples for'),
        ),
        migrations.AlterField(
            model_name='setting',
            name='hard_to_change',
            field=models.BooleanField(default=True, help_text='Changing it costs much, such as a restart: campaigns change it as seldom as they can.'),
        ),
        migrations.AlterField(
            model_name='setting',
            name='label',
            field=models.CharField(blank=True, help_text='As people read it. Empty: the name.', max_length=100),
        ),
        migrations.AlterField(
            model_name='setting',
            name='maximum',
            field=models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(-1000000000000000.0), django.core.validators.MaxValueValidator(1000000000000000.0)]),
        ),
        migrations.AlterField(
            model_name='setting',
            name='minimum',
            field=models.FloatField(blank=True, null=True, validators=[django.core.validators.MinValueValidator(-1000000000000000.0), django.core.validators.MaxValueValidator(1000000000000000.0)]),
        ),
        migrations.AlterField(
            model_name='setting',
            name='name',
            field=models.CharField(help_text='As campaigns call it, such as puma_workers.', max_length=80),
        ),
        migrations.AlterField(
            model_name='sshlogin',
            name='host',
            field=models.CharField(help_text='Name or address of the machine.', max_length=253),
        ),
        migrations.AlterField(
            model_name='sshlogin',
            name='port',
            field=models.PositiveIntegerField(blank=True, default=22, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(65535)]),
        ),
        migrations.AlterField(
            model_name='sshlogin',
            name='username',
            field=models.CharField(max_length=200, verbose_name='user name'),
        ),
        migrations.AlterField(
            model_name='target',
            name='base_url',
            field=models.CharField(help_text='http:// or https://, host and port; no user name in it.', max_length=500, verbose_name='base URL'),
        ),
        migrations.AlterField(
            model_name='target',
            name='ca_bundle',
            field=models.TextField(blank=True, help_text='PEM. For a server whose certificate no public authority has signed.', max_length=200000, verbose_name='CA bundle'),
        ),
        migrations.AlterField(
            model_name='target',
            name='client_certificate',
            field=models.TextField(blank=True, help_text='PEM. In place of user name and password, where the server takes it.', max_length=50000),
        ),
        migrations.AlterField(
            model_name='target',
            name='hardware',
            field=models.TextField(blank=True, help_text='What it runs on, in your words; kept with every run that is measured from now on.', max_length=2000, verbose_name='hardware and network'),
        ),
        migrations.AlterField(
            model_name='target',
            name='is_dedicated',
            field=models.BooleanField(default=False, help_text='A kind that empties its server may then delete at once what nobody claims. Never tick it for a server with content of others.', verbose_name='this server belongs to perfdash alone'),
        ),
        migrations.AlterField(
            model_name='target',
            name='is_production',
            field=models.BooleanField(default=False, help_text='Others depend on it: whoever puts load on it types its name first.', verbose_name='this is a production server'),
        ),
        migrations.AlterField(
            model_name='target',
            name='max_concurrency',
            field=models.PositiveIntegerField(blank=True, help_text='A campaign that asks for more is refused. Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000000)], verbose_name='most requests at a time'),
        ),
        migrations.AlterField(
            model_name='target',
            name='max_requests_per_second',
            field=models.FloatField(blank=True, help_text='No run begins more of them in any second. Empty: no limit.', null=True, validators=[django.core.validators.MinValueValidator(0.01), django.core.validators.MaxValueValidator(1000000)], verbose_name='most requests a second'),
        ),
        migrations.AlterField(
            model_name='target',
            name='notes',
            field=models.TextField(blank=True, max_length=2000),
        ),
        migrations.AlterField(
            model_name='target',
            name='quiet_hours',
            field=models.TextField(blank=True, help_text='Nothing loads the server then. One window a line: Mon-Fri 08:00-18:00, or Sat,Sun 00:00-24:00, or daily 22:00-06:00. Empty: none.', max_length=5000, validators=[campaigns.models.targets.validate_quiet_hours]),
        ),
        migrations.AlterField(
            model_name='target',
            name='quiet_zone',
            field=models.CharField(blank=True, default='UTC', help_text='Such as Europe/Berlin; summer time is minded.', max_length=60, validators=[campaigns.models.targets.validate_time_zone], verbose_name='time zone of the quiet hours'),
        ),
        migrations.AlterField(
            model_name='target',
            name='username',
            field=models.CharField(blank=True, help_text='For kinds that sign in at the server; the downloader does not.', max_length=200, verbose_name='user name'),
        ),
        migrations.AlterField(
            model_name='targetstep',
            name='name',
            field=models.CharField(help_text='Such as “restart the services”; it names its proof.', max_length=80),
        ),
        migrations.AlterField(
            model_name='targetstep',
            name='position',
            field=models.PositiveIntegerField(blank=True, default=1, help_text='Lower ones come first.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(1000)]),
        ),
        migrations.AlterField(
            model_name='targetstep',
            name='purpose',
            field=models.CharField(choices=[('reset', 'reset'), ('ready', 'readiness')], default='reset', help_text='A reset is done before each run; readiness is awaited after a reset or a setting.', max_length=10, verbose_name='when'),
        ),
        migrations.AlterField(
            model_name='team',
            name='approvals_needed',
            field=models.PositiveSmallIntegerField(default=1, help_text='So many people beside the author approve a conclusion before it is accepted.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10)]),
        ),
        migrations.AlterField(
            model_name='team',
            name='second_for_production',
            field=models.BooleanField(default=False, help_text='A launch, an extension or a try-out there waits until another operator says yes.', verbose_name='two people for a launch on a production server'),
        ),
        migrations.AlterField(
            model_name='template',
            name='name',
            field=models.CharField(help_text='As your team will look for it.', max_length=120),
        ),
        migrations.AlterField(
            model_name='template',
            name='notes',
            field=models.TextField(blank=True, help_text='What it is for, and what to change each time.', max_length=2000),
        ),
    ]
