"""Name, unit, direction and fidelity of a metric once, instead of in each of its values.

The table of values is written anew: an UPDATE of all rows would leave it twice as large. Until the end there are
both, so this needs free space of some 0.6 times the old table with its index, and some seconds a million values.
Undone, the old table is written anew in the same way.
"""

import django.db.models.deletion
from django.db import migrations, models

from campaigns.migrations._views import drop_views, make_views

FIDELITY = models.CharField(choices=[('raw', 'measured here or raw values imported'), ('aggregated', 'aggregated before the import'), ('rounded', 'rounded before the import')], default='raw', max_length=20)

METRICS = """
SET LOCAL maintenance_work_mem = '256MB';
INSERT INTO campaigns_storedmetric (name, unit, lower_is_better, fidelity)
    SELECT DISTINCT metric, unit, lower_is_better, fidelity FROM campaigns_measurement ORDER BY 1, 2, 3, 4;
ANALYZE campaigns_storedmetric;
"""
NEW = """
CREATE TABLE measurement_anew (
    attempt_id bigint NOT NULL,
    value double precision NOT NULL,
    metric_id integer NOT NULL,
    censored boolean NOT NULL,
    bound boolean NOT NULL
);
INSERT INTO measurement_anew (attempt_id, value, metric_id, censored, bound)
    SELECT old.attempt_id, old.value, metric.id, old.censored, old.bound
    FROM campaigns_measurement old
    JOIN campaigns_storedmetric metric
        ON metric.name = old.metric AND metric.unit = old.unit AND metric.fidelity = old.fidelity
        AND metric.lower_is_better IS NOT DISTINCT FROM old.lower_is_better;
"""
OLD = """
SET LOCAL maintenance_work_mem = '256MB';
CREATE TABLE measurement_anew (
    attempt_id bigint NOT NULL,
    value double precision NOT NULL,
    lower_is_better boolean,
    censored boolean NOT NULL,
    bound boolean NOT NULL,
    metric varchar(100) NOT NULL,
    unit varchar(20) NOT NULL,
    fidelity varchar(20) NOT NULL
);
INSERT INTO measurement_anew (attempt_id, value, lower_is_better, censored, bound, metric, unit, fidelity)
    SELECT new.attempt_id, new.value, metric.lower_is_better, new.censored, new.bound, metric.name, metric.unit,
        metric.fidelity
    FROM campaigns_measurement new
    JOIN campaigns_storedmetric metric ON metric.id = new.metric_id;
"""
REPLACE = """
DROP TABLE campaigns_measurement;
ALTER TABLE measurement_anew RENAME TO campaigns_measurement;
ALTER TABLE campaigns_measurement
    ADD CONSTRAINT campaigns_measurement_pkey PRIMARY KEY (attempt_id, {metric}),
    ADD CONSTRAINT value_is_a_number CHECK (value > '-infinity' AND value < 'infinity'),
    ADD CONSTRAINT campaigns_measuremen_attempt_id_a1bf0765_fk_campaigns FOREIGN KEY (attempt_id)
        REFERENCES campaigns_attempt (id) DEFERRABLE INITIALLY DEFERRED;
CREATE INDEX measurement_limits ON campaigns_measurement (attempt_id) WHERE bound OR censored;
ANALYZE campaigns_measurement;
"""
TO_KEYS = METRICS + NEW + REPLACE.format(metric="metric_id")
TO_TEXTS = OLD + REPLACE.format(metric="metric")


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0018_listed_answers'),
    ]

    operations = [
        drop_views(3),
        migrations.CreateModel(
            name='StoredMetric',
            fields=[
                ('id', models.AutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('unit', models.CharField(max_length=20)),
                ('lower_is_better', models.BooleanField(help_text='None: neither way is better.', null=True)),
                ('fidelity', FIDELITY),
            ],
            options={
                'constraints': [
                    models.UniqueConstraint(fields=('name', 'unit', 'lower_is_better', 'fidelity'), name='stored_metric_once'),
                    models.UniqueConstraint(condition=models.Q(('lower_is_better', None)), fields=('name', 'unit', 'fidelity'), name='stored_metric_without_direction_once'),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(TO_KEYS, TO_TEXTS)],
            state_operations=[
                migrations.DeleteModel('Measurement'),
                migrations.CreateModel(
                    name='Measurement',
                    fields=[
                        ('pk', models.CompositePrimaryKey('attempt', 'metric', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('attempt', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='campaigns.attempt')),
                        ('value', models.FloatField()),
                        ('metric', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='campaigns.storedmetric')),
                        ('censored', models.BooleanField(default=False)),
                        ('bound', models.BooleanField(default=False)),
                    ],
                    options={
                        'indexes': [models.Index(condition=models.Q(('bound', True), ('censored', True), _connector='OR'), fields=['attempt'], name='measurement_limits')],
                        'constraints': [models.CheckConstraint(condition=models.Q(('value__gt', float("-inf")), ('value__lt', float("inf"))), name='value_is_a_number')],
                    },
                ),
            ],
        ),
        make_views(4),
    ]
