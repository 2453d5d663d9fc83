"""Conclusions with their evidence and decisions, public links, and comments."""

import django.db.models.deletion
import django.db.models.functions.datetime
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
CREATE TRIGGER decisions_are_never_emptied BEFORE TRUNCATE ON campaigns_decision
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_empty_a_record();

CREATE FUNCTION refuse_to_delete_a_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'A decision is never deleted.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER decisions_are_never_deleted BEFORE DELETE ON campaigns_decision
    FOR EACH ROW EXECUTE FUNCTION refuse_to_delete_a_decision();

CREATE FUNCTION refuse_another_author() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The author of a conclusion stays.' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER authors_of_conclusions_stay BEFORE UPDATE ON campaigns_conclusion
    FOR EACH ROW WHEN (OLD.author_id IS DISTINCT FROM NEW.author_id)
    EXECUTE FUNCTION refuse_another_author();

CREATE FUNCTION refuse_to_forget_a_writer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM campaigns_conclusion WHERE id = OLD.conclusion_id AND revision > 0) THEN
        RAISE EXCEPTION 'Who had a hand in a conclusion that was sent to review stays named.'
            USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN COALESCE(NEW, OLD);
END $$;
CREATE TRIGGER writers_of_conclusions_stay BEFORE UPDATE OR DELETE ON campaigns_conclusion_writers
    FOR EACH ROW EXECUTE FUNCTION refuse_to_forget_a_writer();
"""
ALLOW = """
DROP TRIGGER writers_of_conclusions_stay ON campaigns_conclusion_writers;
DROP FUNCTION refuse_to_forget_a_writer();
DROP TRIGGER authors_of_conclusions_stay ON campaigns_conclusion;
DROP FUNCTION refuse_another_author();
DROP TRIGGER decisions_are_never_deleted ON campaigns_decision;
DROP FUNCTION refuse_to_delete_a_decision();
DROP TRIGGER decisions_are_never_emptied ON campaigns_decision;
DROP TRIGGER decisions_are_others_and_stay ON campaigns_decision;
DROP FUNCTION refuse_own_or_changed_decisions();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('campaigns', '0007_findings'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Conclusion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('claim', models.CharField(max_length=500)),
                ('recommendation', models.TextField(blank=True)),
                ('limits', models.TextField(blank=True, help_text='Where it does not hold.')),
                ('state', models.CharField(choices=[('draft', 'draft'), ('in_review', 'in review'), ('changes_requested', 'changes requested'), ('accepted', 'accepted'), ('rejected', 'rejected'), ('superseded', 'superseded'), ('reopened', 're-opened')], db_index=True, default='draft', max_length=20)),
                ('revision', models.PositiveIntegerField(default=0)),
                ('reason', models.TextField(blank=True, help_text='Why it stands as it does, such as re-opened.')),
                ('reopened_by', models.JSONField(default=list, help_text='What changed: both values of each.')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('changed_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('sent_at', models.DateTimeField(blank=True, null=True)),
                ('decided_at', models.DateTimeField(blank=True, null=True)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conclusions', to=settings.AUTH_USER_MODEL)),
                ('supersedes', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='superseded_by', to='campaigns.conclusion')),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conclusions', to='campaigns.team')),
                ('writers', models.ManyToManyField(related_name='conclusions_written', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['draft', 'in_review', 'changes_requested', 'accepted', 'rejected', 'superseded', 'reopened'])), name='conclusion_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Evidence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('contrast', models.JSONField(blank=True, null=True)),
                ('finding', models.CharField(blank=True, max_length=120)),
                ('view', models.CharField(blank=True, help_text="Address of a chart's view.", max_length=500)),
                ('data_hash', models.CharField(blank=True, max_length=80)),
                ('snapshot', models.JSONField(default=dict)),
                ('campaign', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='evidence_for', to='campaigns.campaign')),
                ('conclusion', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='evidence', to='campaigns.conclusion')),
                ('findings_at', models.DateTimeField(blank=True, null=True)),
                ('stamp', models.JSONField(default=dict)),
            ],
            options={
                'verbose_name_plural': 'evidence',
                'ordering': ['position'],
                'constraints': [models.UniqueConstraint(fields=('conclusion', 'position'), name='evidence_position_once')],
            },
        ),
        migrations.CreateModel(
            name='CheckWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('check_name', models.CharField(max_length=50)),
                ('text', models.TextField()),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('conclusion', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='words', to='campaigns.conclusion')),
                ('about', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('conclusion', 'check_name'), name='one_word_a_check')],
            },
        ),
        migrations.CreateModel(
            name='Decision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('revision', models.PositiveIntegerField()),
                ('word', models.CharField(choices=[('approve', 'approved'), ('request_changes', 'asked for changes'), ('reject', 'rejected')], max_length=20)),
                ('reason', models.TextField(blank=True)),
                ('data_hash', models.CharField(max_length=80)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('conclusion', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='decisions', to='campaigns.conclusion')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='decisions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('conclusion', 'revision', 'user'), name='one_decision_a_revision')],
            },
        ),
        migrations.CreateModel(
            name='Reviewer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('conclusion', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='reviewers', to='campaigns.conclusion')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews_asked', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('conclusion', 'user'), name='reviewer_asked_once')],
            },
        ),
        migrations.CreateModel(
            name='PublicLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('conclusion', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='public_links', to='campaigns.conclusion')),
                ('made_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Thread',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('on', models.CharField(choices=[('campaign', 'campaign'), ('cell', 'cell'), ('run', 'run'), ('chart', 'chart'), ('conclusion', 'conclusion')], max_length=10)),
                ('key', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('resolved_at', models.DateTimeField(blank=True, null=True)),
                ('campaign', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='threads', to='campaigns.campaign')),
                ('conclusion', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='threads', to='campaigns.conclusion')),
                ('resolved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='threads', to='campaigns.team')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('campaign', None), ('conclusion', None), _connector='XOR'), name='thread_is_on_one_thing')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField(blank=True)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('edited_at', models.DateTimeField(blank=True, null=True)),
                ('deleted_at', models.DateTimeField(blank=True, null=True)),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comments', to=settings.AUTH_USER_MODEL)),
                ('thread', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='comments', to='campaigns.thread')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='Mention',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('seen_at', models.DateTimeField(blank=True, null=True)),
                ('comment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mentions', to='campaigns.comment')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='mentions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('comment', 'user'), name='mentioned_once_a_comment')],
            },
        ),
        migrations.RunSQL(REFUSE, ALLOW),
    ]
