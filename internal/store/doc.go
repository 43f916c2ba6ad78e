// Package store is the journal in a database: what was done, written down
// before and after each effect, in a chain that shows every later change.
//
// It may be imported by its drivers (internal/store/sqlite) and by the wiring
// (internal/app, internal/cli). Its one invariant: an entry that was
// acknowledged is never changed, and never leaves but at the old end of the
// chain, under a signature.
//
// # Entries
//
// A call is a begin entry and, once it is over, an end entry, or an
// interrupted entry if the process that ran it died. A key entry names the key
// that signs for this journal, a prune entry accounts for old entries that were
// removed, and a disown entry for entries that somebody else put in. Each entry
// has the next number (seq) and
//
//	hash = SHA-256(hash of the entry before ‖ seq ‖ every other column)
//	seal = HMAC-SHA256(secret, hash of this entry ‖ seq ‖ every other column), 16 bytes of it
//
// where numbers are eight bytes and texts stand behind their length, so that
// no byte of any column can change, and no entry can move, without a trace, and
// none can be added without the secret, which lies beside the signing key.
//
// # Pruning
//
// Old entries are removed from the old end only. A range is checked first as
// Verify would check it, and is kept if anything is wrong with it: the signed
// prune entry would otherwise be the last trace of whatever was done to it. It
// names the range, its number of entries, their times, and the setting that
// asked for it.
//
// # What is promised
//
// Begin and End return after the commit. It survives the death of the process
// (kill -9) at any moment. With Config.Sync it survives a power cut as well;
// without, the last fifth of a second may then be missing.
//
// Several processes may share one journal. Each holds a lock file as long as
// it lives, by which the others know whether its open calls still run.
//
// # What verification can show
//
// A changed, moved, added or missing entry anywhere before the last entry is
// found by the chain alone. That the end was cut off is found by the
// checkpoint, a signed statement of the newest entry in a directory of its own;
// it is at most a fifth of a second behind, and what came after it can be cut
// without a trace. It cannot be replaced or added to: that takes the secret.
// A journal never signs over an entry without a good seal but says in the
// chain, in a disown entry, that it did not write it, and goes on; and a replay
// never answers from one.
//
// Whoever has the public key and the checkpoint but not the secret sees all of
// this but forged entries behind the checkpoint; Report.SealsUnchecked says so.
// What triggers, views or other indexes do to the tables is seen by comparing
// the schema with what the migrations make; a journal whose schema was altered
// is not written to.
//
// Whoever can write the database but not the key directory can therefore
// destroy, but not forge. Whoever can write both can put back an older state of
// both together, which nothing kept on the same machine could tell from the
// truth: to exclude that, copy the checkpoint elsewhere from time to time.
//
// Entries from before there were seals have none. Those that were signed when
// the secret was made are taken as they are, but not answered from.
package store
