"""A word is on the number of a check, too: those on what was frozen get the one that stood beside."""

from django.db import migrations

ADD_NUMBERS = """
    UPDATE campaigns_checkword w
    SET about = (c.told ->> 'number') || ': ' || w.about
    FROM campaigns_evidence e
    CROSS JOIN LATERAL jsonb_array_elements(COALESCE(e.snapshot -> 'checks', '[]')) c (told)
    WHERE e.conclusion_id = w.conclusion_id
    AND w.check_name = (c.told ->> 'name') || '-' || (c.told ->> 'campaign')
    AND w.about = c.told ->> 'words'
"""


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0029_taken_back")]

    operations = [migrations.RunSQL(ADD_NUMBERS, migrations.RunSQL.noop)]
