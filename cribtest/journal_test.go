package cribtest

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

func TestMemoryIsAJournal(t *testing.T) {
	Journal(t, func(testing.TB) toolcrib.Journal { return &Memory{} })
}

// bentJournal is a Memory with something wrong.
type bentJournal struct {
	Memory
	begin func(*Memory, context.Context, *toolcrib.Record) (*toolcrib.Record, error)
	end   func(*Memory, context.Context, *toolcrib.Record) error
}

func (b *bentJournal) Begin(ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	if b.begin == nil {
		return b.Memory.Begin(ctx, r)
	}
	return b.begin(&b.Memory, ctx, r)
}

func (b *bentJournal) End(ctx context.Context, r *toolcrib.Record) error {
	if b.end == nil {
		return b.Memory.End(ctx, r)
	}
	return b.end(&b.Memory, ctx, r)
}

// TestJournalSuiteCanFail bends a journal in one way at a time and wants the
// check that is about it to notice.
func TestJournalSuiteCanFail(t *testing.T) {
	// old makes a journal that gives back old records changed.
	old := func(change func(*toolcrib.Record)) func() toolcrib.Journal {
		return func() toolcrib.Journal {
			return &bentJournal{begin: func(m *Memory, ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
				got, err := m.Begin(ctx, r)
				if got != nil {
					change(got)
				}
				return got, err
			}}
		}
	}
	ended := func(end func(*Memory, context.Context, *toolcrib.Record) error) func() toolcrib.Journal {
		return func() toolcrib.Journal { return &bentJournal{end: end} }
	}
	// keyed makes a journal that files records under another subject.
	keyed := func(subject func(r *toolcrib.Record) string) func() toolcrib.Journal {
		return func() toolcrib.Journal {
			return &bentJournal{begin: func(m *Memory, ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
				c := *r
				c.Caller.Subject = subject(r)
				return m.Begin(ctx, &c)
			}}
		}
	}
	for _, c := range []struct {
		name  string
		check string
		open  func() toolcrib.Journal
	}{
		{"keeps nothing", "a closed call is given back whole", func() toolcrib.Journal { return toolcrib.NoJournal{} }},
		{"refuses everything", "a new call has no old record", func() toolcrib.Journal { return &Memory{BeginErr: errors.New("full")} }},
		{"cannot close", "a closed call is given back whole", func() toolcrib.Journal { return &Memory{EndErr: errors.New("full")} }},
		{"loses the verdicts", "a closed call is given back whole", old(func(r *toolcrib.Record) { r.Verdicts = nil })},
		{"loses nanoseconds", "a closed call is given back whole", old(func(r *toolcrib.Record) { r.Start = r.Start.Truncate(time.Microsecond) })},
		{"loses the zone's offset", "a closed call is given back whole", old(func(r *toolcrib.Record) {
			r.Start = time.Date(2026, 3, 29, 1, 59, 59, 123456789, time.UTC)
		})},
		{"rewrites the input", "a closed call is given back whole", old(func(r *toolcrib.Record) { r.Input = json.RawMessage(`{"n":1}`) })},
		{"has no sequence", "a closed call is given back whole", old(func(r *toolcrib.Record) { r.Seq = 0 })},
		{"closes what runs", "a running call is given back without an outcome", old(func(r *toolcrib.Record) { r.Outcome = toolcrib.Interrupted })},
		{"knows one outcome", "every outcome is kept", old(func(r *toolcrib.Record) { r.Outcome = toolcrib.Done })},
		{"forgets whose ID it is", "an ID belongs to a subject", keyed(func(*toolcrib.Record) string { return "" })},
		{"takes the session for the subject", "an ID belongs to a subject", keyed(func(r *toolcrib.Record) string { return r.Caller.Subject + r.Caller.Session })},
		{"takes every End", "only a begun call can end, and once", ended(func(m *Memory, ctx context.Context, r *toolcrib.Record) error {
			_ = m.End(ctx, r)
			return nil
		})},
		{"lets a replay overwrite", "a replay writes nothing", overwriting},
		{"keeps the caller's memory", "records share no memory with the caller", func() toolcrib.Journal { return &sharing{records: map[string]*toolcrib.Record{}} }},
		{"does not look at the context", "a caller that has gone begins nothing", func() toolcrib.Journal {
			return &bentJournal{begin: func(m *Memory, ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
				return m.Begin(context.WithoutCancel(ctx), r)
			}}
		}},
		{"writes although the caller has gone", "a caller that has gone begins nothing", func() toolcrib.Journal {
			return &bentJournal{begin: func(m *Memory, ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
				got, err := m.Begin(context.WithoutCancel(ctx), r)
				return got, errors.Join(err, ctx.Err())
			}}
		}},
		{"looks, then leaps", "of many with one ID exactly one begins", leaping},
		{"cuts at NUL", "strange and large texts are kept as they are", old(func(r *toolcrib.Record) {
			for i, c := range r.Tool {
				if c == 0 {
					r.Tool = r.Tool[:i]
					return
				}
			}
		})},
		{"mixes up who ends", "many different calls at once are all kept", old(func(r *toolcrib.Record) {
			if r.ID == "7-7" {
				r.Result = nil
			}
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, check := range journalChecks() {
				if check.name == c.check {
					if err := check.run(t.Context(), c.open()); err == nil {
						t.Errorf("the check %q did not notice a journal that %s", c.check, c.name)
					}
					return
				}
			}
			t.Fatalf("there is no check %q", c.check)
		})
	}
}

// overwriting takes a second Begin for the first.
func overwriting() toolcrib.Journal {
	second := map[string]*toolcrib.Record{}
	return &bentJournal{begin: func(m *Memory, ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
		got, err := m.Begin(ctx, r)
		if got != nil && second[r.ID] != nil {
			got.Tool = second[r.ID].Tool
		}
		second[r.ID] = r
		return got, err
	}}
}

// leaping looks whether a record is there and writes it in two steps.
func leaping() toolcrib.Journal {
	var mu sync.Mutex
	seen := map[string]bool{}
	return &bentJournal{begin: func(m *Memory, ctx context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
		mu.Lock()
		there := seen[r.ID]
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		seen[r.ID] = true
		if there {
			return m.Begin(ctx, r)
		}
		_, err := m.Begin(ctx, r)
		return nil, err
	}}
}

// sharing keeps the very records it was given.
type sharing struct{ records map[string]*toolcrib.Record }

func (s *sharing) Begin(_ context.Context, r *toolcrib.Record) (*toolcrib.Record, error) {
	if old := s.records[r.ID]; old != nil {
		return old, nil
	}
	r.Seq = 1
	s.records[r.ID] = r
	return nil, nil
}

func (s *sharing) End(_ context.Context, r *toolcrib.Record) error {
	s.records[r.ID] = r
	return nil
}
