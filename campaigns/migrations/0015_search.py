"""When a target may be overloaded; checks of recovery of a search for capacity."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0014_closed_loop'),
    ]

    operations = [
        migrations.AddField(
            model_name='target',
            name='overload_until',
            field=models.DateTimeField(blank=True, help_text='Up to this time (UTC) a search may load it until work fails, and a production server may get more load than it has carried. Empty: never.', null=True, verbose_name='may be overloaded until'),
        ),
        migrations.AddField(
            model_name='target',
            name='overload_hours',
            field=models.TextField(blank=True, default='', help_text='One window per line, as quiet hours, in their time zone. Empty: at any hour.', max_length=5000, verbose_name='hours in which it may be overloaded'),
            preserve_default=False,
        ),
        migrations.AlterField(
            model_name='block',
            name='phase',
            field=models.CharField(blank=True, choices=[('', 'planned'), ('explore', 'explore'), ('confirm', 'confirm'), ('check', 'check of recovery')], default='', max_length=10),
        ),
    ]
