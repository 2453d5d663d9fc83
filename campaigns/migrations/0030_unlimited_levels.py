import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0029_rights_of_logins"),
    ]

    operations = [
        migrations.AddField(
            model_name="factor",
            name="unlimited",
            field=models.FloatField(
                help_text="The level that means no limit, which comes after all others.", null=True
            ),
        ),
        migrations.AddField(
            model_name="setting",
            name="unlimited",
            field=models.FloatField(
                blank=True,
                help_text="The number that means no limit, such as 0 or -1: as a level it comes after all others.",
                null=True,
                validators=[
                    django.core.validators.MinValueValidator(-1e15),
                    django.core.validators.MaxValueValidator(1e15),
                ],
                verbose_name="no limit",
            ),
        ),
    ]
