-- What people are asked, and what of their answers is remembered. The columns
-- before the body are there to find rows by; what counts is the body.
CREATE TABLE question (
	id      TEXT    NOT NULL PRIMARY KEY,
	rev     INTEGER NOT NULL, -- grows with every change of any question
	state   TEXT    NOT NULL,
	live    INTEGER NOT NULL, -- 1: a call may still come across it
	slot    TEXT    NOT NULL, -- who asks for what
	alike   TEXT    NOT NULL,
	subject TEXT    NOT NULL,
	asked   INTEGER NOT NULL, -- nanoseconds since 1970
	seal    BLOB    NOT NULL,
	body    BLOB    NOT NULL  -- JSON
) STRICT;

CREATE UNIQUE INDEX question_rev ON question (rev);
CREATE INDEX question_slot ON question (slot) WHERE live = 1;
CREATE INDEX question_state ON question (state, subject);

CREATE TABLE granted (
	id        TEXT    NOT NULL PRIMARY KEY,
	subject   TEXT    NOT NULL,
	bound     TEXT    NOT NULL, -- whom and which definition of which tool it is for
	arguments TEXT    NOT NULL, -- empty: it is for rules
	at        INTEGER NOT NULL, -- nanoseconds since 1970
	seal      BLOB    NOT NULL,
	body      BLOB    NOT NULL  -- JSON
) STRICT;

CREATE INDEX granted_bound ON granted (bound, arguments);
CREATE INDEX granted_subject ON granted (subject, at);

-- The newest rev that was ever given. It outlives the question that had it.
CREATE TABLE clock (
	rev INTEGER NOT NULL
) STRICT;

INSERT INTO clock VALUES (0);
