"""Drop indexes that another one begins with, and those for prefixes of texts that nobody looks for."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


INDEXES = {
    "campaigns_attempt_run_id_2a757e33": ("campaigns_attempt", "run_id"),
    "campaigns_auditevent_team_id_f4abb402": ("campaigns_auditevent", "team_id"),
    "campaigns_block_campaign_id_9ef6f189": ("campaigns_block", "campaign_id"),
    "campaigns_campaigntarget_campaign_id_11c39793": ("campaigns_campaigntarget", "campaign_id"),
    "campaigns_cell_campaign_id_5e0737d4": ("campaigns_cell", "campaign_id"),
    "campaigns_declaredmetric_campaign_id_184802b4": ("campaigns_declaredmetric", "campaign_id"),
    "campaigns_distribution_attempt_id_576fcb56": ("campaigns_distribution", "attempt_id"),
    "campaigns_environmentfact_attempt_id_a746c602": ("campaigns_environmentfact", "attempt_id"),
    "campaigns_factor_campaign_id_b3374220": ("campaigns_factor", "campaign_id"),
    "campaigns_finding_campaign_id_084b1cb6": ("campaigns_finding", "campaign_id"),
    "campaigns_level_factor_id_9c285515": ("campaigns_level", "factor_id"),
    "campaigns_phase_attempt_id_31320b85": ("campaigns_phase", "attempt_id"),
    "campaigns_run_campaign_id_71a7911d": ("campaigns_run", "campaign_id"),
    "campaigns_series_attempt_id_608132d4": ("campaigns_series", "attempt_id"),
    "campaigns_session_campaign_id_b58ef1d4": ("campaigns_session", "campaign_id"),
}
"""Each with its table and column."""


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0021_analysis_seconds"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        # AlterField would drop each index of the column, those of unique constraints, too, and check the foreign key anew.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f'DROP INDEX IF EXISTS "{name}"',
                    f'CREATE INDEX "{name}" ON "{table}" ("{column}")',
                )
                for name, (table, column) in INDEXES.items()
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="attempt",
                    name="run",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="campaigns.run",
                    ),
                ),
                migrations.AlterField(
                    model_name="auditevent",
                    name="team",
                    field=models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="campaigns.team",
                    ),
                ),
                migrations.AlterField(
                    model_name="block",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="blocks",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="campaigntarget",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="cell",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cells",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="declaredmetric",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metrics",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="distribution",
                    name="attempt",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="distributions",
                        to="campaigns.attempt",
                    ),
                ),
                migrations.AlterField(
                    model_name="environmentfact",
                    name="attempt",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="environment",
                        to="campaigns.attempt",
                    ),
                ),
                migrations.AlterField(
                    model_name="factor",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="factors",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="finding",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="level",
                    name="factor",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="levels",
                        to="campaigns.factor",
                    ),
                ),
                migrations.AlterField(
                    model_name="phase",
                    name="attempt",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="phases",
                        to="campaigns.attempt",
                    ),
                ),
                migrations.AlterField(
                    model_name="run",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="runs",
                        to="campaigns.campaign",
                    ),
                ),
                migrations.AlterField(
                    model_name="series",
                    name="attempt",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="series",
                        to="campaigns.attempt",
                    ),
                ),
                migrations.AlterField(
                    model_name="session",
                    name="campaign",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sessions",
                        to="campaigns.campaign",
                    ),
                ),
            ],
        ),
        migrations.AlterField(
            model_name="auditevent",
            name="action",
            field=models.CharField(max_length=40),
        ),
        migrations.AlterField(
            model_name="submission",
            name="digest",
            field=models.CharField(help_text="SHA-256 of what was sent.", max_length=64),
        ),
        migrations.AddIndex(
            model_name="auditevent",
            index=models.Index(fields=["action"], name="audit_of_an_action"),
        ),
        migrations.AddIndex(
            model_name="submission",
            index=models.Index(
                condition=models.Q(("digest", ""), _negated=True),
                fields=["digest"],
                name="submissions_by_digest",
            ),
        ),
    ]
