"""What is on record stays: the log is not emptied, decisions are not deleted, and who wrote stays who wrote."""

from django.db import migrations

REFUSE = """
CREATE FUNCTION refuse_to_empty_a_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'The table % is a record; it is never emptied.', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_log_is_never_emptied BEFORE TRUNCATE ON campaigns_auditevent
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_to_empty_a_record();
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
DROP TRIGGER audit_log_is_never_emptied ON campaigns_auditevent;
DROP FUNCTION refuse_to_empty_a_record();
"""


class Migration(migrations.Migration):
    dependencies = [("campaigns", "0030_words_on_numbers")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
