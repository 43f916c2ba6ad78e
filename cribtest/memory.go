package cribtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/toolcrib/toolcrib"
)

// Memory is a Journal that keeps its records in memory. The zero Memory is
// empty and ready; it may be used by many goroutines.
type Memory struct {
	// BeginErr and EndErr, if set, are what Begin and End answer instead of
	// doing anything. Set them before the first call.
	BeginErr, EndErr error

	mu      sync.Mutex
	records []*toolcrib.Record
	byKey   map[memoryKey]*toolcrib.Record
}

type memoryKey struct{ subject, id string }

var _ toolcrib.Journal = (*Memory)(nil)

// Begin notes the call, or gives the record this subject has under this ID.
func (m *Memory) Begin(ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("beginning a record: %w", err)
	}
	if m.BeginErr != nil {
		return nil, m.BeginErr
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := memoryKey{r.Caller.Subject, r.ID}
	if old := m.byKey[key]; old != nil {
		return cloneRecord(old), nil
	}
	if m.byKey == nil {
		m.byKey = map[memoryKey]*toolcrib.Record{}
	}
	kept := cloneRecord(r)
	kept.Seq = uint64(len(m.records)) + 1
	m.records = append(m.records, kept)
	m.byKey[key] = kept
	return nil, nil
}

// End closes a record that was begun and not closed before.
func (m *Memory) End(_ context.Context, r *toolcrib.Record) error {
	if m.EndErr != nil {
		return m.EndErr
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	open := m.byKey[memoryKey{r.Caller.Subject, r.ID}]
	switch {
	case open == nil:
		return fmt.Errorf("ending record %s: it was never begun", r.ID)
	case open.Outcome != "":
		return fmt.Errorf("ending record %s: it has ended before", r.ID)
	case r.Outcome == "":
		return errors.New("ending a record without an outcome")
	}
	seq := open.Seq
	*open = *cloneRecord(r)
	open.Seq = seq
	return nil
}

// Records gives copies of all records in the order they were begun.
func (m *Memory) Records() []toolcrib.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]toolcrib.Record, len(m.records))
	for i, r := range m.records {
		out[i] = *cloneRecord(r)
	}
	return out
}

// cloneRecord shares no memory with r, as no journal may.
func cloneRecord(r *toolcrib.Record) *toolcrib.Record {
	c := *r
	c.Input = bytes.Clone(r.Input)
	c.Result = bytes.Clone(r.Result)
	c.Verdicts = slices.Clone(r.Verdicts)
	for i := range c.Verdicts {
		c.Verdicts[i].Grant = nil // not part of a record
	}
	return &c
}
