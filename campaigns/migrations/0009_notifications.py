"""Announcements, and the channels that deliver them."""

import django.contrib.postgres.functions
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0008_reviews'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Announcement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('campaign_finished', 'a campaign has finished'), ('campaign_failed', 'a campaign failed or paused automatically'), ('campaign_needs_hand', 'a campaign needs a manual step'), ('review_asked', 'a review is requested'), ('review_decided', 'a review was decided'), ('review_reopened', 'a conclusion was re-opened or taken back'), ('mentioned', 'somebody mentioned you'), ('launch_asked', 'a launch waits for approval'), ('launch_decided', 'a launch was decided on'), ('trial', 'a trial of a channel')], max_length=30)),
                ('to', models.JSONField(default=list)),
                ('data', models.JSONField(default=dict)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('read_at', models.DateTimeField(help_text='When deliveries were made of it.', null=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='campaigns.campaign')),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='announcements', to='campaigns.team')),
                ('conclusion', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='campaigns.conclusion')),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
                'indexes': [models.Index(condition=models.Q(('read_at', None)), fields=['id'], name='announcements_not_read')],
            },
        ),
        migrations.CreateModel(
            name='Channel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('kind', models.CharField(choices=[('email', 'e-mail'), ('webhook', 'webhook'), ('chat', 'chat service')], max_length=10)),
                ('address', models.TextField(blank=True, editable=False)),
                ('secret', models.TextField(blank=True, editable=False)),
                ('kinds', models.JSONField(default=list, help_text='Of Announcement.Kind.')),
                ('is_on', models.BooleanField(default=True)),
                ('off_reason', models.TextField(blank=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='channels', to=settings.AUTH_USER_MODEL)),
                ('former_secret', models.TextField(blank=True, editable=False)),
                ('former_until', models.DateTimeField(null=True)),
                ('given_up', models.PositiveIntegerField(default=0)),
                ('is_confirmed', models.BooleanField(default=True, help_text='Its owner has opened the link that was sent to the address.')),
                ('place', models.CharField(blank=True, max_length=300)),
                ('teams', models.JSONField(default=list)),
                ('failed', models.PositiveIntegerField(default=0)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('user', 'name'), name='channel_name_once_a_user')],
            },
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('given_up', 'given up'), ('dropped', 'not sent')], default='waiting', max_length=10)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('not_before', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('message', models.TextField(blank=True, help_text='What went wrong at the last try.')),
                ('delivered_at', models.DateTimeField(null=True)),
                ('announcement', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='campaigns.announcement')),
                ('channel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='campaigns.channel')),
                ('claimed_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('uid', models.UUIDField(db_default=django.contrib.postgres.functions.RandomUUID(), editable=False, unique=True)),
            ],
            options={
                'verbose_name_plural': 'deliveries',
                'ordering': ['pk'],
                'indexes': [models.Index(condition=models.Q(('state', 'waiting')), fields=['not_before'], name='deliveries_waiting')],
                'constraints': [models.UniqueConstraint(fields=('announcement', 'channel'), name='delivered_once_a_channel')],
            },
        ),
    ]
