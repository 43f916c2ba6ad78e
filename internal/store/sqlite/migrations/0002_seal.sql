-- The seal of an entry: what only the owner of the key can write. Entries from
-- before this have none. It stands behind the body because whoever checks it
-- reads that as well.
ALTER TABLE entry ADD COLUMN seal BLOB NOT NULL DEFAULT x'';
