"""Teams and people, tokens, and the log of who did what."""

import campaigns.models.teams
import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

DEFAULT_TEAM = """
INSERT INTO campaigns_team (name, is_default, approvals_needed, second_for_production)
VALUES ('Default', true, 1, false);
"""
REFUSE = """
CREATE FUNCTION refuse_to_change_the_audit_log() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The audit log is only added to; % is refused.', TG_OP
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_log_is_only_added_to BEFORE UPDATE OR DELETE ON campaigns_auditevent
    FOR EACH ROW EXECUTE FUNCTION refuse_to_change_the_audit_log();

CREATE FUNCTION refuse_to_empty_a_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The table % is a record; it is never emptied.', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_log_is_never_emptied BEFORE TRUNCATE ON campaigns_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_empty_a_record();
"""
ALLOW = """
DROP TRIGGER audit_log_is_never_emptied ON campaigns_auditevent;
DROP FUNCTION refuse_to_empty_a_record();
DROP TRIGGER audit_log_is_only_added_to ON campaigns_auditevent;
DROP FUNCTION refuse_to_change_the_audit_log();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100, unique=True)),
                ('is_default', models.BooleanField(default=False)),
                ('approvals_needed', models.PositiveSmallIntegerField(default=1, help_text='So many people beside the author approve a conclusion before it is accepted.', validators=[django.core.validators.MinValueValidator(1), django.core.validators.MaxValueValidator(10)])),
                ('second_for_production', models.BooleanField(default=False, help_text='A launch, an extension or a try-out there waits until another operator approves it.', verbose_name='two people for a launch on a production server')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('approvals_needed__gte', 1), ('approvals_needed__lte', 10)), name='some_approval_is_needed'), models.UniqueConstraint(condition=models.Q(('is_default', True)), fields=('is_default',), name='one_default_team')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('roles', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('viewer', 'viewer'), ('author', 'author'), ('operator', 'operator'), ('reviewer', 'reviewer'), ('admin', 'admin')], max_length=10), size=None)),
                ('joined_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='campaigns.team')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('team', 'user'), name='member_once_in_a_team'), models.CheckConstraint(condition=models.Q(('roles__contained_by', ['viewer', 'author', 'operator', 'reviewer', 'admin']), ('roles__len__gt', 0)), name='roles_of_a_member_known')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('roles', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('viewer', 'viewer'), ('author', 'author'), ('operator', 'operator'), ('reviewer', 'reviewer'), ('admin', 'admin')], max_length=10), size=None)),
                ('note', models.CharField(blank=True, help_text='For whom it is.', max_length=200)),
                ('hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='invitations_made', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='campaigns.team')),
                ('used_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='invitations_used', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('roles__contained_by', ['viewer', 'author', 'operator', 'reviewer', 'admin']), ('roles__len__gt', 0)), name='roles_of_an_invitation_known')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(choices=[('read', 'read'), ('submit', 'submit results'), ('operate', 'everything')], max_length=10), default=campaigns.models.teams.all_scopes, size=None)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['read', 'submit', 'operate']), ('scopes__len__gt', 0)), name='token_scopes_known')],
            },
        ),
        migrations.CreateModel(
            name='SignInLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sign_in_links', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ('means', models.CharField(blank=True, max_length=120)),
                ('action', models.CharField(db_index=True, max_length=40)),
                ('subject_kind', models.CharField(blank=True, max_length=30)),
                ('subject_key', models.BigIntegerField(null=True)),
                ('subject_name', models.CharField(blank=True, max_length=200)),
                ('campaign_key', models.BigIntegerField(db_index=True, null=True)),
                ('details', models.JSONField(default=dict)),
                ('team', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='campaigns.team')),
                ('user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['subject_kind', 'subject_key'], name='audit_of_a_subject'), models.Index(fields=['team', '-id'], name='audit_of_a_team')],
            },
        ),
        migrations.CreateModel(
            name='KeptAnswer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=200)),
                ('request', models.BinaryField(max_length=32)),
                ('status', models.PositiveSmallIntegerField()),
                ('headers', models.JSONField(default=dict)),
                ('body', models.BinaryField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now(), db_index=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('user', 'key'), name='one_answer_a_key'), models.CheckConstraint(condition=models.Q(('status__gte', 200), ('status__lt', 300)), name='only_success_is_kept')],
            },
        ),
        migrations.RunSQL(DEFAULT_TEAM, migrations.RunSQL.noop),
        migrations.RunSQL(REFUSE, ALLOW),
    ]
