package store

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Report is what verifying found.
type Report struct {
	Entries int    `json:"entries"`
	Calls   int    `json:"calls"`
	Open    int    `json:"open"`  // calls that have not ended
	First   uint64 `json:"first"` // the oldest entry
	Head    uint64 `json:"head"`  // the newest entry
	Hash    string `json:"hash"`  // of the newest entry, hex

	Checkpoint *Checkpoint `json:"checkpoint,omitempty"` // the newest signed statement
	After      int         `json:"after"`                // entries behind it, whose loss it could not show

	// SealsUnchecked says why the seals were not checked, by which forged
	// entries are told; empty: they were.
	SealsUnchecked string `json:"seals_unchecked,omitempty"`
	Unsealed       int    `json:"unsealed,omitempty"` // entries from before there were seals

	// Pruned is what retention removed, as far as the journal still tells step
	// by step, oldest first.
	Pruned []Pruned `json:"pruned,omitempty"`
	// Kept says why entries that look too old are not removed; empty: they are.
	Kept string `json:"kept,omitempty"`

	Findings []Finding `json:"findings,omitempty"`
	More     int       `json:"more,omitempty"` // findings beyond those listed
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// Pruned is one removal of old entries, as the journal signed it.
type Pruned struct {
	Entry  uint64    `json:"entry"` // that says so
	At     time.Time `json:"at"`
	From   uint64    `json:"from,omitempty"` // 0: an older version did not say
	Upto   uint64    `json:"upto"`
	Count  int64     `json:"count"`
	Oldest time.Time `json:"oldest,omitzero"` // the times of what was removed
	Newest time.Time `json:"newest,omitzero"`
	By     string    `json:"by,omitempty"` // the setting that asked for it, and where it was made
	Begun  time.Time `json:"begun,omitzero"`
	Step   int64     `json:"step,omitempty"` // how many removals there were, with this one
}

// Removed tells in a sentence what retention has removed so far; empty: nothing.
func (r *Report) Removed() string {
	if len(r.Pruned) == 0 {
		return ""
	}
	last := r.Pruned[len(r.Pruned)-1]
	text := fmt.Sprintf("entries 1 to %d were removed by retention", last.Upto)
	if last.Step > 1 {
		text += fmt.Sprintf(" in %d steps since %s", last.Step, last.Begun.Format(time.RFC3339))
	}
	text += ", the last on " + last.At.Format(time.RFC3339)
	if last.From > 0 {
		text += fmt.Sprintf(": %d entries of %s to %s, by %s", last.Count, last.Oldest.Format(time.RFC3339), last.Newest.Format(time.RFC3339), last.By)
	}
	return text
}

// Finding is one thing that is wrong.
type Finding struct {
	Kind   Fault  `json:"kind"`
	Seq    uint64 `json:"seq,omitempty"`  // the entry, if it is about one
	Call   string `json:"call,omitempty"` // its call ID, if it is known
	Detail string `json:"detail"`
}

func (f Finding) String() string {
	s := string(f.Kind)
	if f.Seq > 0 {
		s += fmt.Sprintf(": entry %d", f.Seq)
	}
	if f.Call != "" {
		s += fmt.Sprintf(" (call %s)", f.Call)
	}
	return s + ": " + f.Detail
}

// Fault is a kind of finding.
type Fault string

// The faults.
const (
	Changed       Fault = "changed"    // an entry is not as it was written
	Missing       Fault = "missing"    // entries are gone from the middle or the old end
	Reordered     Fault = "reordered"  // an entry stands in another's place
	Duplicate     Fault = "duplicate"  // a call begins or ends twice
	Orphan        Fault = "orphan"     // an end has no begin
	Forged        Fault = "forged"     // an entry was not written by this journal
	Unsealed      Fault = "unsealed"   // an entry has no seal, and should have one
	TailCut       Fault = "tail cut"   // entries are gone from the new end
	BadCheckpoint Fault = "checkpoint" // it is missing, or its signature is wrong
	BadKey        Fault = "key"        // it is missing, or another than the journal was begun with
	Damaged       Fault = "damaged"    // the database cannot be read, or is not whole
	Schema        Fault = "schema"     // the tables, or what is attached to them, are not those of this program
)

// maxFindings bounds a report; of a thousand faults nobody needs the next.
const maxFindings = 1000

func (r *Report) add(f Finding) {
	if len(r.Findings) >= maxFindings {
		r.More++
		return
	}
	r.Findings = append(r.Findings, f)
}

func (r *Report) sort() {
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return cmp.Compare(a.Seq, b.Seq) })
}
