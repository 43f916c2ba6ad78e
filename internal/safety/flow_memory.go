package safety

import (
	"cmp"
	"container/list"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// flowKey names a conversation. It is a hash, so that long names of a frontend
// take no more memory than short ones.
type flowKey [16]byte

// keyOf leaves the agent out: agents of one conversation hand on what they
// read, and so do those that one of them puts to work in a session of their own. It
// leaves out by which way and in which dialect a call came, too.
func keyOf(c toolcrib.Caller) flowKey {
	var b []byte
	for _, word := range []string{c.Organisation, c.Subject, lineage.Root(c.Session)} {
		b = append(binary.AppendUvarint(b, uint64(len(word))), word...)
	}
	sum := sha256.Sum256(b)
	return flowKey(sum[:16])
}

// firstSources is who was first to bring each label. The first stays: a reason
// that named the latest would change with every call.
type firstSources struct{ private, untrusted Brought }

// with fills in who brings labels that nobody brought yet.
func (b firstSources) with(labels policy.Labels, call, tool string, at time.Time) firstSources {
	if labels&policy.LabelPrivate != 0 && b.private == (Brought{}) {
		b.private = Brought{Call: call, Tool: tool, Time: at}
	}
	if labels&policy.LabelUntrusted != 0 && b.untrusted == (Brought{}) {
		b.untrusted = Brought{Call: call, Tool: tool, Time: at}
	}
	return b
}

// maxFaded bounds the conversations of which only the labels are kept: about
// ten megabytes.
const maxFaded = 1 << 18

// flowMemory is what is known of conversations: in full of the most recent, by
// labels of those before, and as one sum of all the rest. Forgetting never
// takes a label away.
type flowMemory struct {
	most   int // in full; zero: 4096
	faint  int // by labels; zero: maxFaded
	recent map[flowKey]*list.Element
	order  list.List // of *flowSession, the latest in front
	faded  map[flowKey]policy.Labels
	lost   policy.Labels // of those that are not even in faded
}

type flowSession struct {
	key    flowKey
	labels policy.Labels
	by     firstSources
}

// labelsOf tells what a conversation has. It changes nothing.
func (m *flowMemory) labelsOf(key flowKey) (policy.Labels, firstSources) {
	if e := m.recent[key]; e != nil {
		s := e.Value.(*flowSession)
		return s.labels, s.by
	}
	if l, ok := m.faded[key]; ok {
		return l, firstSources{}
	}
	return m.lost, firstSources{}
}

// addLabels adds labels to a conversation.
func (m *flowMemory) addLabels(key flowKey, labels policy.Labels, call, tool string, at time.Time) {
	e := m.recent[key]
	if e == nil {
		if m.recent == nil {
			m.recent, m.faded = map[flowKey]*list.Element{}, map[flowKey]policy.Labels{}
		}
		had, _ := m.labelsOf(key) // from then on it stands by itself
		delete(m.faded, key)
		e = m.order.PushFront(&flowSession{key: key, labels: had})
		m.recent[key] = e
		m.forgetOldest()
	}
	m.order.MoveToFront(e)
	s := e.Value.(*flowSession)
	s.by = s.by.with(labels, call, tool, at)
	s.labels |= labels
}

// forgetOldest makes room.
func (m *flowMemory) forgetOldest() {
	for m.order.Len() > cmp.Or(m.most, 4096) {
		s := m.order.Remove(m.order.Back()).(*flowSession)
		delete(m.recent, s.key)
		if len(m.faded) < cmp.Or(m.faint, maxFaded) {
			m.faded[s.key] = s.labels
			continue
		}
		m.lost |= s.labels
	}
}
