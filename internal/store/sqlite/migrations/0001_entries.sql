-- The entries of the journal. The body stands last, so that a scan over the
-- other columns does not have to read it.
CREATE TABLE entry (
	seq      INTEGER PRIMARY KEY,
	kind     INTEGER NOT NULL, -- 1 begin, 2 end, 3 interrupted, 4 key, 5 prune
	at       INTEGER NOT NULL, -- nanoseconds since 1970
	ref      INTEGER NOT NULL, -- what closes a call: the number of its begin
	duration INTEGER NOT NULL, -- nanoseconds
	call     TEXT    NOT NULL,
	subject  TEXT    NOT NULL,
	session  TEXT    NOT NULL,
	tool     TEXT    NOT NULL,
	box      TEXT    NOT NULL,
	outcome  TEXT    NOT NULL,
	run      TEXT    NOT NULL, -- the process that wrote it
	hash     BLOB    NOT NULL,
	body     BLOB    NOT NULL  -- JSON
) STRICT;

-- A subject uses a call ID once: the insert itself is the replay check. What
-- closes a call is tied to its begin by ref, so that an end whose begin was
-- pruned is not taken for that of a later call with the same ID.
CREATE UNIQUE INDEX entry_call ON entry (call, subject, kind, ref) WHERE kind < 4;

-- Key and prune entries are few and are looked for at every opening.
CREATE INDEX entry_mark ON entry (seq) WHERE kind >= 4;
