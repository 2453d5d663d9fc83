from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0042_lines")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="anew",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="A build is installed at the begin of each whole plot, even where it is in force.",
            ),
        ),
    ]
