// Package notefile keeps the notes of sessions in files, one for each session of
// a person, so that a session can be resumed by another process. It implements
// [notes.Store]. The joint internal/notebook opens it.
//
// Its one invariant: no caller reads or changes what another subject, another
// organisation or another session has written. And nothing goes away in silence:
// notes that have had their time leave a mark, and who comes back is told.
package notefile
