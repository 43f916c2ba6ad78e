package store

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// chain is where the check of the hashes stands.
type chain struct {
	last    head // the entry before, as it says it is
	want    sum  // the hash it should have; the same unless it was changed
	known   bool // there is a hash to build on
	scratch []byte
	misfits []misfit // entries that do not fit, or cannot be checked
	gaps    []place  // numbers that are missing, as long as they are few
}

// place is a place in the chain.
type place struct {
	seq  uint64
	prev sum // the hash it builds on
}

// misfit is an entry that does not fit its place; unsure if what stood
// before it is missing, so that it cannot be said.
type misfit struct {
	entry
	prev   sum
	unsure bool
	origin *Finding // that somebody else wrote it
}

// maxOdd bounds the search for entries that changed places.
const maxOdd = 64

func (c *chain) start(h head, known bool) { c.last, c.want, c.known = h, h.hash, known }

// checkEntry checks one entry against the one before.
func (v *verification) checkEntry(e *entry) {
	c := &v.chain
	if e.seq != c.last.seq+1 {
		v.gap(e)
	}
	prev := c.last.hash
	want := e.sumAfter(&prev, &c.scratch)
	if want != e.hash && c.want != prev {
		// If only the hash of the entry before was changed, this one fits
		// behind what that one should be.
		if again := e.sumAfter(&c.want, &c.scratch); again == e.hash {
			prev, want = c.want, again
		}
	}
	var origin *Finding
	if f, foreign := v.origin(e); foreign {
		origin = &f
	}
	if want != e.hash {
		v.keepMisfit(e, prev, origin)
	} else if origin != nil {
		v.add(*origin)
	}
	for i := range v.witness {
		if w := &v.witness[i]; w.Seq == e.seq && w.head().hash == e.hash {
			w.met = true
		}
	}
	c.start(head{e.seq, e.hash}, true)
	c.want = want
	v.Head, v.Hash = e.seq, hex.EncodeToString(e.hash[:])
	if v.Checkpoint == nil || e.seq > v.Checkpoint.Seq {
		v.After++
	}
}

// origin says whether an entry was written by somebody else. Without the key
// of the seals the journal's own word is all there is.
func (v *verification) origin(e *entry) (Finding, bool) {
	switch fault := v.sealFault(e); {
	case fault == Unsealed:
		return Finding{fault, e.seq, e.call, "it has no seal: an older version of this program wrote it, or somebody else"}, true
	case fault == Forged:
		return Finding{fault, e.seq, e.call, "its seal is wrong: it was not written by this journal"}, true
	case v.foreign.around(e.seq).Upto > 0:
		return Finding{Forged, e.seq, e.call, "the journal says that it did not write it"}, true
	}
	return Finding{}, false
}

func (v *verification) sealFault(e *entry) Fault {
	if v.sealer == nil {
		return ""
	}
	if v.sealer.old(e) {
		v.Unsealed++
	}
	return v.sealer.fault(e)
}

// gap reports missing entries. What comes behind them cannot be checked
// against them, but the rest can.
func (v *verification) gap(e *entry) {
	c := &v.chain
	from, to := c.last.seq+1, e.seq-1
	detail := "the entry is gone"
	if to > from {
		detail = fmt.Sprintf("entries %d to %d are gone", from, to)
	}
	v.add(Finding{Kind: Missing, Seq: from, Detail: detail})
	for seq := from; seq <= to && len(c.gaps) < maxOdd; seq++ {
		c.gaps = append(c.gaps, place{seq, c.last.hash})
	}
	c.known = false
}

// keepMisfit keeps an entry that does not fit until it is clear why.
func (v *verification) keepMisfit(e *entry, prev sum, origin *Finding) {
	c := &v.chain
	if len(c.misfits) >= maxOdd {
		if c.known {
			v.add(changed(e))
		} else if origin != nil {
			v.add(*origin)
		}
		return
	}
	kept := *e
	kept.body = append([]byte(nil), e.body...)
	c.misfits = append(c.misfits, misfit{kept, prev, !c.known, origin})
}

func changed(e *entry) Finding {
	return Finding{Changed, e.seq, e.call, "it is not as it was written"}
}

// judgeMisfits tells, of the entries that do not fit, which were changed, which
// were moved, and which only stand behind one that was.
func (v *verification) judgeMisfits() {
	c := &v.chain
	var hashes []sum // those that moved along with their entries
	places := c.gaps
	for i := range c.misfits {
		hashes = append(hashes, c.misfits[i].hash)
		places = append(places, place{c.misfits[i].seq, c.misfits[i].prev})
	}
	for i := range c.misfits {
		o := &c.misfits[i]
		own := place{o.seq, o.prev}
		if c.belongs(o, own, hashes) {
			if o.origin != nil {
				v.add(*o.origin)
			}
			continue
		}
		found := false
		for _, p := range places {
			if p.seq == o.seq {
				continue
			}
			if found = c.belongs(o, p, hashes); found {
				v.add(Finding{Reordered, o.seq, o.call, fmt.Sprintf("it was written as entry %d", p.seq)})
				break
			}
		}
		switch {
		case found:
		case !o.unsure:
			v.add(changed(&o.entry))
		case o.origin != nil:
			v.add(*o.origin)
		}
	}
}

// belongs reports whether an odd entry was written for a place, by its own
// hash or by one of the others, behind the entry that stands there or behind
// one that stood there.
func (c *chain) belongs(o *misfit, p place, hashes []sum) bool {
	e := o.entry
	e.seq = p.seq
	for i := -1; i < len(hashes); i++ {
		prev := p.prev
		if i >= 0 {
			prev = hashes[i]
		}
		got := e.sumAfter(&prev, &c.scratch)
		// In its own place only its own hash counts; in another's, that one's
		// may have stayed behind.
		if got == o.hash || p.seq != o.seq && slices.Contains(hashes, got) {
			return true
		}
	}
	return false
}

// conclude judges what could only be judged at the end.
func (v *verification) conclude() {
	v.judgeMisfits()
	v.Open = len(v.open)
	for _, w := range v.witness {
		switch {
		case w.met:
		case w.Seq > v.Head:
			v.add(Finding{TailCut, w.Seq, "", fmt.Sprintf("the journal ends with entry %d, and at %s it had this one (%s)", v.Head, w.Time, w.file)})
		case w.Seq >= v.First:
			v.add(Finding{TailCut, w.Seq, "", fmt.Sprintf("it is another one than at %s: the end of the journal was cut off or rewritten (%s)", w.Time, w.file)})
		case w.file != checkpointFile:
			v.add(Finding{TailCut, w.Seq, "", fmt.Sprintf("the journal went on without an entry it had at %s; what is left of that time was pruned since (%s)", w.Time, w.file)})
		}
	}
	v.sort()
}
