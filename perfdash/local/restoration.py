"""What Django knows of a backup: `python -m perfdash.local.restoration known | complete`.

`known` prints the migrations that this perfdash has. `complete` brings a restored database up to
date, lets nothing begin that ran or waited when it was saved, and prints what is in it. Both print
one line of JSON.
"""

import json
import sys

import django
from django.core.management import call_command
from django.db.migrations.loader import MigrationLoader


def known() -> list[str]:
    """Give every migration on disk, as `app.name`."""
    loader = MigrationLoader(None)
    return sorted(f"{app}.{name}" for app, name in loader.disk_migrations)


def complete() -> dict[str, object]:
    """Migrate, pause, cancel try-outs that wait, count; name the targets whose passwords no key opens."""
    call_command("migrate", verbosity=0, interactive=False)
    from campaigns.models import Campaign, Run
    from campaigns.planning import lifecycle
    from campaigns.targets.saving import unreadable_targets
    from campaigns.trends.lines import pause_scheduled

    running = list(Campaign.objects.filter(state=Campaign.State.RUNNING))
    for campaign in running:
        lifecycle.pause(campaign)
    for try_out in Run.objects.filter(purpose=Run.Purpose.TRIAL, state=Run.State.PLANNED):
        lifecycle.cancel_run(try_out, "it waited when the backup was made")
    lines = pause_scheduled(
        "A backup was restored. Resume the line where it is to be measured again."
    )
    return {
        "campaigns": Campaign.objects.count(),
        "runs": Run.objects.count(),
        "paused": [
            *(campaign.name or campaign.question for campaign in running),
            *(line.name for line in lines),
        ],
        "unreadable": unreadable_targets(),
    }


if __name__ == "__main__":
    django.setup()
    sys.stdout.write(json.dumps({"known": known, "complete": complete}[sys.argv[1]]()) + "\n")
