-- A finding is open, fixed, accepted for what it is, or a false alarm, and somebody is to mend it. The rows follow from the
-- details of sessions, which older programs write too.
alter table findings drop constraint findings_status_check;
alter table findings add constraint findings_status_check check (status in ('open', 'fixed', 'accepted', 'dismissed'));
alter table findings add column assignee text;
create index findings_fixed on findings (org_id, fingerprint) where status = 'fixed';
