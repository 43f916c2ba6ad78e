package cribtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib"
)

func journalNew(ctx context.Context, j toolcrib.Journal) error {
	return errors.Join(begin(ctx, j, journalRecord("a")), begin(ctx, j, journalRecord("b")))
}

func journalClosed(ctx context.Context, j toolcrib.Journal) error {
	for _, id := range []string{"a", "b"} {
		if err := beginEnd(ctx, j, journalRecord(id)); err != nil {
			return err
		}
	}
	return errors.Join(
		again(ctx, j, journalRecord("a"), journalFinish(journalRecord("a"))),
		again(ctx, j, journalRecord("b"), journalFinish(journalRecord("b"))))
}

func journalRunning(ctx context.Context, j toolcrib.Journal) error {
	if err := begin(ctx, j, journalRecord("a")); err != nil {
		return err
	}
	return again(ctx, j, journalRecord("a"), journalRecord("a"))
}

func journalOutcomes(ctx context.Context, j toolcrib.Journal) error {
	outcomes := []toolcrib.Outcome{toolcrib.Done, toolcrib.Broke}
	for _, code := range Codes() {
		outcomes = append(outcomes, toolcrib.Outcome(code))
	}
	for _, o := range outcomes {
		// A refused call: most of what a done one has is missing.
		r := journalRecord(string(o))
		r.Input, r.Parent = nil, ""
		if err := begin(ctx, j, r); err != nil {
			return err
		}
		r.Outcome, r.Message = o, "because "+string(o)
		if err := j.End(ctx, r); err != nil {
			return fmt.Errorf("End with %s: %w", o, err)
		}
		want := *r
		if err := again(ctx, j, journalRecord(string(o)), &want); err != nil {
			return err
		}
	}
	return nil
}

func journalSubjects(ctx context.Context, j toolcrib.Journal) error {
	// Naive keys made by joining the two texts would take some of these for the same.
	for _, k := range [][2]string{
		{"ann", "1"}, {"bob", "1"}, {"", "1"}, {"an", "n1"}, {"ann:1", "2"}, {"ann", "1:2"},
		{"ann\x00", "1"}, {"ann", "\x001"}, {"ANN", "1"}, {"ann", "1 "}, {"ann ", "1"}, {"%", "1"}, {"_nn", "1"},
	} {
		r := journalRecord(k[1])
		r.Caller.Subject = k[0]
		if err := beginEnd(ctx, j, r); err != nil && !mayRefuse(k[0]+k[1], err) {
			return fmt.Errorf("subject %q: %w", k[0], err)
		}
	}
	// The same subject elsewhere, with another tool and input: still its ID. It
	// is the crib that tells a repetition from a conflict.
	other := journalRecord("1")
	other.Caller = toolcrib.Caller{Subject: "ann", Agent: "other", Session: "s2", Frontend: "elsewhere"}
	other.Tool, other.Input, other.InputHash = "other", json.RawMessage(`{}`), "other"
	return again(ctx, j, other, journalFinish(journalRecord("1")))
}

func journalReplayWritesNothing(ctx context.Context, j toolcrib.Journal) error {
	if err := begin(ctx, j, journalRecord("a")); err != nil {
		return err
	}
	other := journalRecord("a")
	other.Tool, other.InputHash, other.Parent = "other", "other", "other"
	if err := again(ctx, j, other, journalRecord("a")); err != nil {
		return err
	}
	if err := j.End(ctx, journalFinish(journalRecord("a"))); err != nil {
		return fmt.Errorf("End after a replay: %w", err)
	}
	return errors.Join(
		again(ctx, j, other, journalFinish(journalRecord("a"))),
		again(ctx, j, other, journalFinish(journalRecord("a"))))
}

func journalEndOnce(ctx context.Context, j toolcrib.Journal) error {
	if err := j.End(ctx, journalFinish(journalRecord("never"))); err == nil {
		return errors.New("End of a call that never began gave no error")
	}
	if err := begin(ctx, j, journalRecord("never")); err != nil {
		return fmt.Errorf("after the stray End: %w", err)
	}
	r := journalRecord("a")
	if err := beginEnd(ctx, j, r); err != nil {
		return err
	}
	r.Outcome, r.Message = toolcrib.Broke, "changed afterwards"
	if err := j.End(ctx, r); err == nil {
		return errors.New("a second End gave no error")
	}
	return again(ctx, j, journalRecord("a"), journalFinish(journalRecord("a")))
}

func journalMemory(ctx context.Context, j toolcrib.Journal) error {
	spoil := func(r *toolcrib.Record) {
		for _, text := range []json.RawMessage{r.Input, r.Result} {
			for i := range text {
				text[i] = '!'
			}
		}
		for i := range r.Verdicts {
			r.Verdicts[i].Guard = "spoiled"
		}
		r.Tool, r.Message = "spoiled", "spoiled"
	}
	r := journalRecord("a")
	if err := begin(ctx, j, r); err != nil {
		return err
	}
	spoil(r)
	if err := again(ctx, j, journalRecord("a"), journalRecord("a")); err != nil {
		return err
	}
	r = journalFinish(journalRecord("a"))
	if err := j.End(ctx, r); err != nil {
		return err
	}
	spoil(r)
	old, err := j.Begin(ctx, journalRecord("a"))
	if err != nil || old == nil {
		return fmt.Errorf("Begin again: %v, %w", old, err)
	}
	spoil(old)
	return again(ctx, j, journalRecord("a"), journalFinish(journalRecord("a")))
}

func journalCancelled(ctx context.Context, j toolcrib.Journal) error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	old, err := j.Begin(gone, journalRecord("a"))
	if !errors.Is(err, context.Canceled) || old != nil {
		return fmt.Errorf("Begin with a cancelled context gave %v, %w; want context.Canceled", old, err)
	}
	if err := begin(ctx, j, journalRecord("a")); err != nil {
		return fmt.Errorf("after a cancelled Begin: %w", err)
	}
	return nil
}

// journalEndDetached: the crib takes the cancellation off before it ends a
// record, but not the values; a journal must not need the caller alive.
func journalEndDetached(ctx context.Context, j toolcrib.Journal) error {
	live, cancel := context.WithCancel(ctx)
	r := journalRecord("a")
	if err := begin(live, j, r); err != nil {
		cancel()
		return err
	}
	cancel()
	if err := j.End(context.WithoutCancel(live), journalFinish(r)); err != nil {
		return fmt.Errorf("End after the caller had gone: %w", err)
	}
	return again(ctx, j, journalRecord("a"), journalFinish(journalRecord("a")))
}

func journalRace(ctx context.Context, j toolcrib.Journal) error {
	const callers = 32
	for round := range 4 {
		var winners, losers int
		var errs []error
		var mu sync.Mutex
		id := fmt.Sprint("race-", round)
		inParallel(callers, func(int) {
			old, err := j.Begin(ctx, journalRecord(id))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				errs = append(errs, err)
			case old == nil:
				winners++
			default:
				losers++
			}
		})
		if len(errs) > 0 || winners != 1 {
			return fmt.Errorf("of %d calls with one ID %d began, %d were told of it: %w", callers, winners, losers, errors.Join(errs...))
		}
	}
	return nil
}

func journalMany(ctx context.Context, j toolcrib.Journal) error {
	const callers, each = 16, 20
	errs := make([]error, callers)
	inParallel(callers, func(i int) {
		for n := range each {
			errs[i] = errors.Join(errs[i], beginEnd(ctx, j, journalRecord(fmt.Sprintf("%d-%d", i, n))))
		}
	})
	for i := range callers {
		for n := range each {
			id := fmt.Sprintf("%d-%d", i, n)
			errs[i] = errors.Join(errs[i], again(ctx, j, journalRecord(id), journalFinish(journalRecord(id))))
		}
	}
	return errors.Join(errs...)
}

// errTaken: a record was found where none can be.
var errTaken = errors.New("an old record was given")

// mayRefuse: a journal may refuse to begin a call whose names hold a NUL, which
// many databases cannot keep. It must not take it for another one.
func mayRefuse(text string, err error) bool {
	return strings.Contains(text, "\x00") && !errors.Is(err, errTaken)
}

// journalTexts puts strange texts first where callers and then where tools and
// guards can put them. The latter come too late to be refused.
func journalTexts(ctx context.Context, j toolcrib.Journal) error {
	for i, text := range []string{
		"'; DROP TABLE records; --", `"quoted" \ and /`, "line\nbreak\ttab\r\n", "nul \x00 inside", "zürich 東京 🦊 \u202e",
		strings.Repeat("long ", 20_000),
	} {
		quoted, err := json.Marshal(text)
		if err != nil {
			return err
		}
		called := func(r *toolcrib.Record) *toolcrib.Record {
			r.ID, r.Parent, r.Tool, r.Caller.Session, r.Input, r.InputHash = r.ID+text, text, text, text, quoted, text
			return r
		}
		id := fmt.Sprint("called-", i)
		if err := beginEnd(ctx, j, called(journalRecord(id))); err == nil {
			err = again(ctx, j, called(journalRecord(id)), journalFinish(called(journalRecord(id))))
			if err != nil {
				return err
			}
		} else if !mayRefuse(text, err) {
			return err
		}

		id = fmt.Sprint("ended-", i)
		ended := func(r *toolcrib.Record) *toolcrib.Record {
			r.Outcome, r.Message, r.Result, r.ApprovedBy = toolcrib.Broke, text, quoted, text
			r.Verdicts = []toolcrib.Verdict{{Guard: text, Rule: text, Reason: text}}
			return r
		}
		r := journalRecord(id)
		if err := begin(ctx, j, r); err != nil {
			return err
		}
		if err := j.End(ctx, ended(r)); err != nil {
			return fmt.Errorf("End with a strange text, number %d: %w", i, err)
		}
		if err := again(ctx, j, journalRecord(id), ended(journalRecord(id))); err != nil {
			return err
		}
	}
	return nil
}
