package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
)

// Journal holds a journal to the contract of [toolcrib.Journal]. open makes a
// new, empty one each time and closes it by t.Cleanup.
func Journal(t *testing.T, open func(t testing.TB) toolcrib.Journal) {
	t.Helper()
	for _, c := range journalChecks() {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(t.Context(), open(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// journalCheck is one part of the contract. It gives an error instead of
// failing a test, so that it can be tried on journals that break it.
type journalCheck struct {
	name string
	run  func(context.Context, toolcrib.Journal) error
}

func journalChecks() []journalCheck {
	return []journalCheck{
		{"a new call has no old record", journalNew},
		{"a closed call is given back whole", journalClosed},
		{"a running call is given back without an outcome", journalRunning},
		{"every outcome is kept", journalOutcomes},
		{"an ID belongs to a subject", journalSubjects},
		{"a replay writes nothing", journalReplayWritesNothing},
		{"only a begun call can end, and once", journalEndOnce},
		{"records share no memory with the caller", journalMemory},
		{"a caller that has gone begins nothing", journalCancelled},
		{"an end is kept when the caller has gone", journalEndDetached},
		{"of many with one ID exactly one begins", journalRace},
		{"many different calls at once are all kept", journalMany},
		{"strange and large texts are kept as they are", journalTexts},
	}
}

// journalStart has a fraction and is not in UTC: both must not change the instant.
func journalStart() time.Time {
	return time.Date(2026, time.March, 29, 1, 59, 59, 123456789, time.FixedZone("CET", 3600))
}

// journalRecord is a record as the crib begins one.
func journalRecord(id string) *toolcrib.Record {
	return &toolcrib.Record{
		ID: id, Parent: "parent-of-" + id, Tool: "order", Start: journalStart(),
		Caller:    toolcrib.Caller{Subject: "ann", Agent: "baker", Session: "s1", Frontend: "test", Dialect: "ovos"},
		Input:     mustJSON(map[string]any{"id": id, "n": 1}),
		InputHash: "hash-of-" + id,
	}
}

// journalFinish fills in what is known at the end.
func journalFinish(r *toolcrib.Record) *toolcrib.Record {
	r.Box, r.Native, r.Definition = "shop", "order_bread", "definition-hash"
	r.Verdicts = []toolcrib.Verdict{
		{Decision: toolcrib.Ask, Guard: "mode", Rule: "writes", Reason: "it changes something"},
		{Decision: toolcrib.Allow, Guard: "effects", Reason: "fine"},
		{Decision: toolcrib.Deny, Guard: "budget"},
	}
	r.ApprovedBy, r.Edited, r.Duration = "bob", json.RawMessage(`{"edited":true}`), 1234567*time.Nanosecond
	r.Outcome, r.Message = toolcrib.Done, "a message"
	r.Result = mustJSON(toolcrib.Text(r.ID))
	r.ResultHash, r.Cut = "result-hash", true
	return r
}

func begin(ctx context.Context, j toolcrib.Journal, r *toolcrib.Record) error {
	old, err := j.Begin(ctx, r)
	if err != nil {
		return fmt.Errorf("Begin %q: %w", r.ID, err)
	}
	if old != nil {
		return fmt.Errorf("Begin %q: %w: %+v", r.ID, errTaken, old)
	}
	return nil
}

func beginEnd(ctx context.Context, j toolcrib.Journal, r *toolcrib.Record) error {
	if err := begin(ctx, j, r); err != nil {
		return err
	}
	if err := j.End(ctx, journalFinish(r)); err != nil {
		return fmt.Errorf("End %q: %w", r.ID, err)
	}
	return nil
}

// again begins r a second time and compares the old record with want.
func again(ctx context.Context, j toolcrib.Journal, r, want *toolcrib.Record) error {
	old, err := j.Begin(ctx, r)
	if err != nil {
		return fmt.Errorf("Begin %q again: %w", r.ID, err)
	}
	if old == nil {
		return fmt.Errorf("Begin %q again gave no old record: the call would run twice", r.ID)
	}
	if old.Seq == 0 {
		return fmt.Errorf("the old record of %q has no Seq", r.ID)
	}
	// Texts are compared as a whole: byte by byte takes seconds for large ones.
	texts := cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a)+len(b) > 0 },
		cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }))
	diff := cmp.Diff(want, old, texts, cmpopts.EquateEmpty(),
		cmpopts.IgnoreFields(toolcrib.Record{}, "Seq"), cmpopts.IgnoreFields(toolcrib.Verdict{}, "Grant"))
	if diff != "" {
		return fmt.Errorf("the old record of %q differs (-kept +given):\n%s", r.ID, diff)
	}
	return nil
}

// inParallel runs f(0) … f(n-1) at the same time and waits for all.
func inParallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}
