-- What `sync` read of the session, by the ids of its messages: base64 of gzipped JSON (records/session-parts.ts). Parts of
-- the same session from other files are merged with it. Null for a session that another client sent.
alter table session_details add column parts text;
