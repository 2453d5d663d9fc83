"""Words of today for what was called a stand-in and a hand: a simulator, and a manual step.

Stored values are renamed with them: how an action is done, the paths of the simulators' settings, the kind of a
notification, the fact of a simulated target. Others keep the earlier word, as nothing may change them: lines of
checklists in snapshots of conclusions, and the record of activity.
"""

from django.conf import settings
from django.db import migrations, models
import django.db.models.deletion

from campaigns.migrations._views import drop_views, make_views

ACTIONS = (("campaigns_setting", "apply"), ("campaigns_setting", "read_back"), ("campaigns_targetstep", "action"))


def of_actions(way: str, new_way: str, path: str, new_path: str) -> str:
    """Return the SQL that renames a way and a path in all actions."""
    return "".join(
        f"""
        UPDATE {table} SET {column} = jsonb_set({column}, '{{way}}', '"{new_way}"') WHERE {column} ->> 'way' = '{way}';
        UPDATE {table} SET {column} = jsonb_set(
            {column}, '{{url}}', to_jsonb(replace({column} ->> 'url', '{path}', '{new_path}'))
        ) WHERE {column} ->> 'url' LIKE '%{path}%';
        """
        for table, column in ACTIONS
    )


def of_kinds(kind: str, new: str) -> str:
    """Return the SQL that renames a kind of notifications, and in what each channel chose."""
    return f"""
        UPDATE campaigns_announcement SET kind = '{new}' WHERE kind = '{kind}';
        UPDATE campaigns_channel SET kinds = replace(kinds::text, '"{kind}"', '"{new}"')::jsonb WHERE kinds ? '{kind}';
    """


def of_facts(name: str, new: str) -> str:
    """Return the SQL that renames a fact of targets, except where an attempt has one of the new name."""
    return f"""
        UPDATE campaigns_environmentfact f SET name = '{new}'
        WHERE f.name = '{name}' AND f.side = 'target' AND NOT EXISTS (
            SELECT FROM campaigns_environmentfact o
            WHERE o.attempt_id = f.attempt_id AND o.side = f.side AND o.name = '{new}'
        );
    """


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0026_failure_examples'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        drop_views(5),
        migrations.RemoveIndex(model_name='attempt', name='attempts_on_simulators'),
        migrations.RenameField(model_name='attempt', old_name='stand_in', new_name='simulator'),
        migrations.AlterField(
            model_name='attempt',
            name='simulator',
            field=models.CharField(blank=True, help_text='Which simulator was measured; empty: a real server.', max_length=200),
        ),
        migrations.AddIndex(
            model_name='attempt',
            index=models.Index(condition=models.Q(('simulator', ''), _negated=True), fields=['run'], name='attempts_on_simulators'),
        ),
        migrations.RemoveConstraint(model_name='handrequest', name='hand_for_a_setting_or_a_step'),
        migrations.RenameModel(old_name='HandRequest', new_name='ManualStep'),
        migrations.AddConstraint(
            model_name='manualstep',
            constraint=models.CheckConstraint(condition=models.Q(('setting__isnull', True), ('step__isnull', True), _connector='XOR'), name='manual_step_for_a_setting_or_a_step'),
        ),
        migrations.AlterField(
            model_name='manualstep',
            name='campaign',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='manual_steps', to='campaigns.campaign'),
        ),
        migrations.AlterField(
            model_name='manualstep',
            name='run',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='manual_steps', to='campaigns.run'),
        ),
        migrations.AlterField(
            model_name='manualstep',
            name='target',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='manual_steps', to='campaigns.target'),
        ),
        migrations.RenameField(model_name='setting', old_name='hand_value', new_name='manual_value'),
        migrations.RenameField(model_name='setting', old_name='hand_at', new_name='manual_at'),
        migrations.RunSQL(
            of_actions('hand', 'manual', '/stand-in/', '/simulator/'),
            of_actions('manual', 'hand', '/simulator/', '/stand-in/'),
        ),
        migrations.AlterField(
            model_name='announcement',
            name='kind',
            field=models.CharField(choices=[('campaign_finished', 'a campaign has finished'), ('campaign_failed', 'a campaign failed or paused automatically'), ('campaign_needs_manual_step', 'a campaign needs a manual step'), ('review_asked', 'a review is requested'), ('review_decided', 'a review was decided'), ('review_reopened', 'a conclusion was re-opened or taken back'), ('mentioned', 'somebody mentioned you'), ('launch_asked', 'a launch waits for approval'), ('launch_decided', 'a launch was decided on'), ('trial', 'a trial of a channel')], max_length=30),
        ),
        migrations.RunSQL(
            of_kinds('campaign_needs_hand', 'campaign_needs_manual_step'),
            of_kinds('campaign_needs_manual_step', 'campaign_needs_hand'),
        ),
        migrations.RunSQL(
            of_facts('stand-in', 'simulated target'), of_facts('simulated target', 'stand-in')
        ),
        make_views(6),
    ]
