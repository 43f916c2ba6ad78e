package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

// Guard holds a guard to the contract of [toolcrib.Guard]. open makes a new one
// each time. about are calls that the guard has a word on: at least one that it
// objects to (denies or wants asked) or narrows the grant of, since most of what
// can go wrong with a guard is an objection that is lost.
//
// A guard that counts is opened in the state in which it objects.
func Guard(t *testing.T, open func(t testing.TB) toolcrib.Guard, about ...toolcrib.Review) {
	t.Helper()
	for _, c := range guardChecks() {
		t.Run(c.name, func(t *testing.T) {
			e := &guardExam{open: func() toolcrib.Guard { return open(t) }, about: about}
			for _, fault := range c.run(t.Context(), e) {
				t.Error(fault)
			}
		})
	}
}

// guardExam is what a check works with.
type guardExam struct {
	open  func() toolcrib.Guard
	about []toolcrib.Review
}

// guardCheck is one part of the contract. It gives faults instead of failing a
// test, so that it can be tried on guards that break it.
type guardCheck struct {
	name string
	run  func(context.Context, *guardExam) []error
}

func guardChecks() []guardCheck {
	return []guardCheck{
		{"it has a word on what it is about", guardSpeaks},
		{"its verdicts say who and why", guardVerdicts},
		{"a new one says the same", guardSame},
		{"the caller's name for a tool changes nothing", guardNames},
		{"how an input is written changes nothing", guardWriting},
		{"it changes nothing that it is shown", guardChanges},
		{"what it does not understand it does not allow", guardHostile},
		{"tools that declare nothing are judged", guardStrangers},
		{"an objection stands when the caller has gone", guardGone},
		{"an objection stands with many calls at once", guardMany},
	}
}

// guardWait bounds one judgement: far more than any needs, also under the race
// detector beside other packages, where ten megabytes take most of 20 seconds.
const guardWait = time.Minute

// word is what a guard said: a verdict, nothing, or an error, which denies.
type word struct {
	verdict *toolcrib.Verdict
	err     error
}

// objects reports whether the word stands in the way of the call.
func (w word) objects() bool {
	return w.err != nil || w.verdict != nil && !w.verdict.Note && w.verdict.Decision != toolcrib.Allow
}

// holds reports whether the word stands in the way of the call, or in that of
// something the call could do.
func (w word) holds() bool {
	return w.objects() || w.verdict != nil && (w.verdict.Grant != nil || w.verdict.Unasked != nil)
}

func (w word) allows() bool {
	return w.err == nil && w.verdict != nil && !w.verdict.Note && w.verdict.Decision == toolcrib.Allow
}

func (w word) String() string {
	switch {
	case w.err != nil:
		return "an error: " + w.err.Error()
	case w.verdict == nil:
		return "nothing"
	case w.verdict.Note:
		return "a note by " + w.verdict.Guard
	}
	return w.verdict.Decision.String() + " by " + w.verdict.Guard
}

// breakdown is the error of a subject that broke down.
type breakdown struct{ value any }

func (p breakdown) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// judge asks a guard. One that does not answer in time, or breaks down, is a
// fault and not a word.
func judge(ctx context.Context, g toolcrib.Guard, r toolcrib.Review) (word, error) {
	said := make(chan word, 1)
	go func() {
		var w word
		defer func() {
			if p := recover(); p != nil {
				w.err = breakdown{p}
			}
			said <- w
		}()
		w.verdict, w.err = g.Judge(ctx, r)
	}()
	late := time.NewTimer(guardWait)
	defer late.Stop()
	select {
	case w := <-said:
		if p, ok := errors.AsType[breakdown](w.err); ok {
			return word{}, p
		}
		return w, nil
	case <-late.C:
		return word{}, fmt.Errorf("it has not answered after %v: its work is not bounded", guardWait)
	}
}

// each judges every call of the list by a guard of its own.
func (e *guardExam) each(ctx context.Context, check func(r toolcrib.Review, w word) error) []error {
	var faults []error
	for _, r := range e.about {
		w, err := judge(ctx, e.open(), cloneReview(r))
		if err == nil {
			err = check(r, w)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("a call of %s with %.200s: %w", r.Spec.Name, r.Input, err))
		}
	}
	return faults
}

// cloneReview gives a guard texts of its own, so that what it changes is seen.
func cloneReview(r toolcrib.Review) toolcrib.Review {
	r.Input = bytes.Clone(r.Input)
	r.Call.Input = bytes.Clone(r.Call.Input)
	r.Spec.Input, r.Spec.Output = bytes.Clone(r.Spec.Input), bytes.Clone(r.Spec.Output)
	return r
}

func guardSpeaks(ctx context.Context, e *guardExam) []error {
	objections := 0
	faults := e.each(ctx, func(_ toolcrib.Review, w word) error {
		if w.err == nil && w.verdict == nil {
			return errors.New("it says nothing: the other checks would hold for nothing")
		}
		if w.holds() {
			objections++
		}
		return nil
	})
	if objections == 0 {
		faults = append(faults, errors.New("it objects to none of the calls that it is about: name one that it denies, wants asked or narrows the grant of"))
	}
	return faults
}

func guardVerdicts(ctx context.Context, e *guardExam) []error {
	return e.each(ctx, func(_ toolcrib.Review, w word) error {
		if w.verdict == nil {
			return nil
		}
		v := w.verdict
		switch {
		case w.err != nil:
			return fmt.Errorf("it gives a verdict and an error (%w): only one of them counts", w.err)
		case v.Decision > toolcrib.Allow:
			return fmt.Errorf("it gives the unknown decision %d", v.Decision)
		case strings.TrimSpace(v.Guard) == "":
			return errors.New("its verdict does not say which guard it is from")
		case w.objects() && strings.TrimSpace(v.Reason) == "":
			return errors.New("it objects without a reason: neither a model nor a person can do anything about it")
		case !utf8.ValidString(v.Guard + v.Rule + v.Reason):
			return errors.New("its verdict is not valid UTF-8")
		case len(v.Reason) > 16<<10:
			return fmt.Errorf("its reason has %d bytes: a person reads it, and every record keeps it", len(v.Reason))
		}
		return nil
	})
}

// sameWord tells what another judgement of the same thing must not change.
func sameWord(before, after word) error {
	if before.objects() != after.objects() || before.holds() != after.holds() || before.allows() != after.allows() ||
		before.err == nil && after.err == nil && before.verdict != nil && after.verdict != nil && before.verdict.Decision != after.verdict.Decision {
		return fmt.Errorf("it says %s where it said %s before", after, before)
	}
	return nil
}

// changed judges every call once more in another form.
func (e *guardExam) changed(ctx context.Context, change func(toolcrib.Review) toolcrib.Review) []error {
	return e.each(ctx, func(r toolcrib.Review, before word) error {
		after, err := judge(ctx, e.open(), change(cloneReview(r)))
		if err != nil {
			return err
		}
		return sameWord(before, after)
	})
}

func guardSame(ctx context.Context, e *guardExam) []error {
	return e.changed(ctx, func(r toolcrib.Review) toolcrib.Review { return r })
}

// guardNames: a rule for a tool holds under all its names.
func guardNames(ctx context.Context, e *guardExam) []error {
	return e.changed(ctx, func(r toolcrib.Review) toolcrib.Review {
		r.Call.Tool = "another_name_of_it"
		return r
	})
}

func guardWriting(ctx context.Context, e *guardExam) []error {
	return e.changed(ctx, func(r toolcrib.Review) toolcrib.Review {
		var b bytes.Buffer
		if json.Indent(&b, r.Input, " ", "\t") == nil {
			r.Input, r.Call.Input = b.Bytes(), b.Bytes()
		}
		return r
	})
}

func guardChanges(ctx context.Context, e *guardExam) []error {
	var faults []error
	for _, r := range e.about {
		shown := cloneReview(r)
		if _, err := judge(ctx, e.open(), shown); err != nil {
			faults = append(faults, err)
			continue
		}
		for _, text := range []struct {
			name          string
			before, after []byte
		}{{"input", r.Input, shown.Input}, {"input of the call", r.Call.Input, shown.Call.Input}, {"contract", r.Spec.Input, shown.Spec.Input}} {
			if !bytes.Equal(text.before, text.after) {
				faults = append(faults, fmt.Errorf("a call of %s: it writes into the %s, which others judge and the tool gets: %.200s", r.Spec.Name, text.name, text.after))
			}
		}
	}
	return faults
}

// guardHostile shows inputs that fit no contract in the place of those that it
// objects to. Whatever it says to them, it must come back, and not with a yes.
func guardHostile(ctx context.Context, e *guardExam) []error {
	return e.each(ctx, func(r toolcrib.Review, w word) error {
		for _, a := range attacks(r.Spec.Input) {
			hostile := cloneReview(r)
			hostile.Input, hostile.Call.Input = a.input, a.input
			said, err := judge(ctx, e.open(), hostile)
			if err != nil {
				return fmt.Errorf("%s: %w", a.name, err)
			}
			var object map[string]json.RawMessage
			if w.objects() && json.Unmarshal(a.input, &object) != nil && said.allows() {
				return fmt.Errorf("%s: it says %s to an input that is no object, where it says %s to one that is", a.name, said, w)
			}
		}
		return nil
	})
}

// guardStrangers shows contracts that say nothing at all.
func guardStrangers(ctx context.Context, e *guardExam) []error {
	return e.each(ctx, func(r toolcrib.Review, _ word) error {
		for _, spec := range []toolcrib.Entry{{}, {Spec: toolcrib.Spec{Name: r.Spec.Name}}, {Spec: toolcrib.Spec{Name: strings.Repeat("n", 1<<16)}}, {Spec: toolcrib.Spec{Name: "\x00\xff\u202e", Group: "\x00"}}} {
			stranger := cloneReview(r)
			stranger.Spec = spec
			if _, err := judge(ctx, e.open(), stranger); err != nil {
				return fmt.Errorf("shown a tool named %.20q that declares nothing: %w", spec.Name, err)
			}
		}
		return nil
	})
}

func guardGone(ctx context.Context, e *guardExam) []error {
	gone, cancel := context.WithCancel(ctx)
	cancel()
	return e.each(ctx, func(r toolcrib.Review, before word) error {
		after, err := judge(gone, e.open(), cloneReview(r))
		if err == nil && before.holds() && !after.holds() {
			err = fmt.Errorf("it says %s when the context has ended, where it said %s before", after, before)
		}
		return err
	})
}

func guardMany(ctx context.Context, e *guardExam) []error {
	const callers = 32
	return e.each(ctx, func(r toolcrib.Review, before word) error {
		g := e.open()
		faults := make([]error, callers)
		inParallel(callers, func(i int) {
			after, err := judge(ctx, g, cloneReview(r))
			if err == nil && before.holds() && !after.holds() {
				err = fmt.Errorf("it says %s to one of many calls at once, where it said %s to one alone", after, before)
			}
			faults[i] = err
		})
		return errors.Join(faults...)
	})
}
