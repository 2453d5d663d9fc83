"""A source that is reached by SSH has an address of ssh://, in place of a name of its own.

What runs have observed keeps the name of then: it is a record, and part of bundles.
"""

from django.db import migrations

BY_SSH = """
    UPDATE campaigns_watch SET source = replace(source, '_ssh', ''), address = 'ssh://' || address
    WHERE source IN ('haproxy_ssh', 'puma_ssh');
"""
WAY_BACK = """
    UPDATE campaigns_watch SET source = source || '_ssh', address = replace(address, 'ssh://', '')
    WHERE source IN ('haproxy', 'puma') AND starts_with(address, 'ssh://');
"""


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0037_configurations"),
    ]

    operations = [migrations.RunSQL(BY_SSH, WAY_BACK)]
