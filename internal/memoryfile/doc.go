// Package memoryfile keeps what is remembered in Markdown files that a person can
// read and edit:
//
//	USER/_/MEMORY.md            for all agents of a person
//	USER/AGENT/MEMORY.md        for one agent
//	USER/AGENT/daily/DATE.md    what happened on a day
//
// It implements [memory.Store] and finds notes by BM25. The joint internal/notebook
// opens it.
//
// Its one invariant: it writes at the end of files and nowhere else, one note at a
// time under a lock, so that what a person wrote is never overwritten; and what it
// writes stays one note, whatever it says.
package memoryfile
