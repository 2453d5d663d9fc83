"""What the machine of a worker cannot run."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0032_analysis_claimed")]

    operations = [
        migrations.AddField(
            model_name="worker", name="lacks", field=models.JSONField(default=dict)
        ),
    ]
