"""What a conclusion was frozen with, who wrote it, and decisions that nobody changes or makes for himself."""

from django.conf import settings
from django.db import migrations, models

REFUSE = """
CREATE FUNCTION refuse_own_or_changed_decisions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' THEN
        RAISE EXCEPTION 'A decision is never changed.' USING ERRCODE = 'restrict_violation';
    END IF;
    IF EXISTS (SELECT FROM campaigns_conclusion
               WHERE id = NEW.conclusion_id AND author_id = NEW.user_id)
       OR EXISTS (SELECT FROM campaigns_conclusion_writers
                  WHERE conclusion_id = NEW.conclusion_id AND user_id = NEW.user_id) THEN
        RAISE EXCEPTION 'Nobody decides on a conclusion that he wrote.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER decisions_are_others_and_stay BEFORE INSERT OR UPDATE ON campaigns_decision
    FOR EACH ROW EXECUTE FUNCTION refuse_own_or_changed_decisions();
"""
ALLOW = """
DROP TRIGGER decisions_are_others_and_stay ON campaigns_decision;
DROP FUNCTION refuse_own_or_changed_decisions();
"""


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0024_second_yes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="checkword", name="about", field=models.TextField(blank=True)
        ),
        migrations.AddField(
            model_name="conclusion",
            name="writers",
            field=models.ManyToManyField(
                related_name="conclusions_written", to=settings.AUTH_USER_MODEL
            ),
        ),
        migrations.AddField(
            model_name="evidence",
            name="findings_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="evidence", name="stamp", field=models.JSONField(default=dict)
        ),
        migrations.RunSQL(REFUSE, ALLOW),
    ]
