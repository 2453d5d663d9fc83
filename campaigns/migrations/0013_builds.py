"""Settings that are versions of a server's software."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0012_load'),
    ]

    operations = [
        migrations.AddField(
            model_name='setting',
            name='is_build',
            field=models.BooleanField(default=False, help_text="A version of the server's software, which is installed: it is always hard to change, and is read back from the server itself.", verbose_name='a build'),
        ),
    ]
