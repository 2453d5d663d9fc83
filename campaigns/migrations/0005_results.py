"""What attempts measured, and for how long it is kept."""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0004_execution'),
    ]

    operations = [
        migrations.CreateModel(
            name='Measurement',
            # By size, so that a row has no gaps: there may be millions.
            fields=[
                ('pk', models.CompositePrimaryKey('attempt', 'metric', blank=True, editable=False, primary_key=True, serialize=False)),
                ('attempt', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='campaigns.attempt')),
                ('value', models.FloatField()),
                ('lower_is_better', models.BooleanField(help_text='None: neither way is better.', null=True)),
                ('censored', models.BooleanField(default=False)),
                ('bound', models.BooleanField(default=False)),
                ('metric', models.CharField(max_length=100)),
                ('unit', models.CharField(max_length=20)),
                ('fidelity', models.CharField(choices=[('raw', 'measured here or raw values imported'), ('aggregated', 'aggregated before the import'), ('rounded', 'rounded before the import')], default='raw', max_length=20)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('bound', True), ('censored', True), _connector='OR'), fields=['attempt'], name='measurement_limits')],
                'constraints': [models.CheckConstraint(condition=models.Q(('value__gt', float("-inf")), ('value__lt', float("inf"))), name='value_is_a_number')],
            },
        ),
        migrations.CreateModel(
            name='Distribution',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=50)),
                ('encoded', models.BinaryField()),
                ('count', models.PositiveBigIntegerField()),
                ('dropped', models.PositiveBigIntegerField(default=0)),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='distributions', to='campaigns.attempt')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('attempt', 'name'), name='distribution_once')],
            },
        ),
        migrations.CreateModel(
            name='Series',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=50)),
                ('unit', models.CharField(max_length=20)),
                ('step_seconds', models.FloatField()),
                ('values', django.contrib.postgres.fields.ArrayField(base_field=models.FloatField(), size=None)),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='series', to='campaigns.attempt')),
            ],
            options={
                'verbose_name_plural': 'series',
                'constraints': [models.UniqueConstraint(fields=('attempt', 'name'), name='series_once')],
            },
        ),
        migrations.CreateModel(
            name='RawSamples',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('count', models.PositiveBigIntegerField()),
                ('columns', models.BinaryField()),
                ('attempt', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='raw_samples', to='campaigns.attempt')),
            ],
            options={
                'verbose_name_plural': 'raw samples',
            },
        ),
        migrations.CreateModel(
            name='Phase',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('of', models.CharField(choices=[('attempt', 'step of the attempt'), ('measure', 'part of the measured time')], max_length=10)),
                ('name', models.CharField(max_length=50)),
                ('seconds', models.FloatField()),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='phases', to='campaigns.attempt')),
                ('started_seconds', models.FloatField(blank=True, help_text='Since the clock started; parts that have it may overlap.', null=True)),
                ('counted_seconds', models.FloatField(blank=True, help_text='Since the clock started, when the target first counted.', null=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('attempt', 'of', 'name'), name='phase_once')],
            },
        ),
        migrations.CreateModel(
            name='Proof',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('step', models.CharField(choices=[('reset', 'clean state'), ('verify', 'same work')], max_length=10)),
                ('name', models.CharField(max_length=100)),
                ('expected', models.JSONField()),
                ('measured', models.JSONField()),
                ('unit', models.CharField(blank=True, max_length=20)),
                ('ok', models.BooleanField()),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='proofs', to='campaigns.attempt')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='EffectiveSetting',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('asked', models.JSONField(null=True)),
                ('in_force', models.JSONField(null=True)),
                ('ok', models.BooleanField()),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='effective_settings', to='campaigns.attempt')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='EnvironmentFact',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('side', models.CharField(choices=[('target', 'target'), ('generator', 'generator')], max_length=10)),
                ('name', models.CharField(max_length=100)),
                ('value', models.TextField()),
                ('attempt', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='environment', to='campaigns.attempt')),
                ('value_after', models.TextField(blank=True, help_text='After the run, where it was another; else empty.')),
            ],
            options={
                'ordering': ['side', 'name'],
                'constraints': [models.UniqueConstraint(fields=('attempt', 'side', 'name'), name='fact_once')],
            },
        ),
        migrations.CreateModel(
            name='DeletedSamples',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('count', models.PositiveBigIntegerField()),
                ('kept_days', models.PositiveIntegerField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('attempt', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='deleted_samples', to='campaigns.attempt')),
            ],
            options={
                'verbose_name_plural': 'deleted samples',
            },
        ),
        migrations.CreateModel(
            name='Retention',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('keep_samples_days', models.PositiveIntegerField(help_text='Empty: forever.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(36500)], verbose_name='keep raw samples for')),
                ('team', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='retention', to='campaigns.team')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('keep_samples_days__gte', 1)), name='samples_are_kept_a_day')],
            },
        ),
    ]
