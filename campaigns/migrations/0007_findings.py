"""What the analysis of a campaign found."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0006_submissions'),
    ]

    operations = [
        migrations.CreateModel(
            name='Finding',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('result', models.JSONField()),
                ('data_hash', models.CharField(max_length=80)),
                ('versions', models.JSONField(default=dict)),
                ('computed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='findings', to='campaigns.campaign')),
                ('session', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='campaigns.session')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('campaign', 'name'), name='finding_once_a_campaign')],
            },
        ),
    ]
