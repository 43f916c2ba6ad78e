package cribtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// Answering plays the person behind an approver: it waits until the question
// about q.Call.ID is open and answers it. An error means that this person cannot
// give such an answer.
type Answering func(ctx context.Context, q toolcrib.Question, a toolcrib.Answer) error

// Approver holds an approver to the contract of [toolcrib.Approver]. open makes a
// new one each time, and the person who answers what is asked through it.
func Approver(t *testing.T, open func(t testing.TB) (toolcrib.Approver, Answering)) {
	t.Helper()
	for _, c := range approverChecks() {
		t.Run(c.name, func(t *testing.T) {
			a, answer := open(t)
			if err := c.run(t.Context(), &approverExam{a, answer}); err != nil {
				t.Error(err)
			}
		})
	}
}

// approverExam is what a check works with.
type approverExam struct {
	approver toolcrib.Approver
	answer   Answering
}

// approverCheck is one part of the contract. It gives an error instead of
// failing a test, so that it can be tried on approvers that break it.
type approverCheck struct {
	name string
	run  func(context.Context, *approverExam) error
}

func approverChecks() []approverCheck {
	return []approverCheck{
		{"a yes reaches the call", approverYes},
		{"a no reaches the call, with its words", approverNo},
		{"what is neither is no yes", approverAsk},
		{"an edited input comes as it was given", approverEdited},
		{"silence is no yes", approverSilence},
		{"one who has gone gets no yes", approverGone},
		{"a yes is for one call", approverOnce},
		{"a yes is for what was asked", approverOther},
		{"each of many calls gets its own answer", approverMany},
		{"what it is asked stays as it is", approverChanges},
		{"strange questions are answered", approverStrange},
	}
}

const (
	// approverWait bounds what ought to happen: far more than it needs.
	approverWait = 20 * time.Second
	// approverSilent is how long nobody says anything. Who says yes without
	// having been told so does it at once.
	approverSilent = 100 * time.Millisecond
)

// question is as the crib puts it; each number asks about something else.
func question(n int) toolcrib.Question {
	input := mustJSON(map[string]any{"id": n})
	return toolcrib.Question{
		Call:  toolcrib.Call{ID: fmt.Sprintf("call-%d", n), Tool: "order", Input: input, Caller: toolcrib.Caller{Subject: "ann", Session: "s1"}},
		Spec:  toolcrib.Entry{Spec: toolcrib.Spec{Name: "order", Description: "Orders bread.", Effects: toolcrib.Writes}},
		Input: input, Effects: toolcrib.Writes,
		Reasons: []toolcrib.Verdict{{Decision: toolcrib.Ask, Guard: "mode", Reason: "it changes something"}},
	}
}

// reply is what a call got.
type reply struct {
	answer toolcrib.Answer
	err    error
}

func (r reply) allows() bool { return r.err == nil && r.answer.Decision == toolcrib.Allow }

// approve puts a question in a goroutine of its own.
func (e *approverExam) approve(ctx context.Context, q toolcrib.Question) <-chan reply {
	got := make(chan reply, 1)
	go func() {
		var r reply
		defer func() {
			if p := recover(); p != nil {
				r.err = breakdown{p}
			}
			got <- r
		}()
		r.answer, r.err = e.approver.Approve(ctx, q)
	}()
	return got
}

// wait is what the call got, if it got anything in time.
func wait(got <-chan reply) (reply, error) {
	late := time.NewTimer(approverWait)
	defer late.Stop()
	select {
	case r := <-got:
		if p, ok := errors.AsType[breakdown](r.err); ok {
			return r, p
		}
		return r, nil
	case <-late.C:
		return reply{}, fmt.Errorf("the call still waits after %v", approverWait)
	}
}

// asked puts a question, has it answered, and gives what the call got.
func (e *approverExam) asked(ctx context.Context, q toolcrib.Question, a toolcrib.Answer) (reply, error) {
	ctx, cancel := context.WithTimeout(ctx, approverWait)
	defer cancel()
	got := e.approve(ctx, q)
	if err := e.answer(ctx, q, a); err != nil {
		return reply{}, fmt.Errorf("answering %s: %w", q.Call.ID, errors.Join(errUnsaid, err))
	}
	return wait(got)
}

// errUnsaid: the person could not give that answer.
var errUnsaid = errors.New("the person cannot say that")

// unanswered puts a question that nobody answers.
func (e *approverExam) unanswered(ctx context.Context, q toolcrib.Question) error {
	ctx, cancel := context.WithTimeout(ctx, approverSilent)
	defer cancel()
	r, err := wait(e.approve(ctx, q))
	if err == nil && r.allows() {
		err = fmt.Errorf("%s was allowed, and nobody had said so", q.Call.ID)
	}
	return err
}

func approverYes(ctx context.Context, e *approverExam) error {
	r, err := e.asked(ctx, question(1), toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"})
	switch {
	case err != nil:
		return err
	case !r.allows():
		return fmt.Errorf("the person said yes and the call got %+v", r)
	case r.answer.By == "":
		return errors.New("the answer does not say who gave it: no record could")
	case r.answer.Input != nil:
		return fmt.Errorf("the person edited nothing, and the call got other arguments: %s", r.answer.Input)
	}
	return nil
}

func approverNo(ctx context.Context, e *approverExam) error {
	const words = "not on a Sunday"
	r, err := e.asked(ctx, question(1), toolcrib.Answer{Decision: toolcrib.Deny, By: "bob", Message: words})
	switch {
	case err != nil:
		return err
	case r.err != nil:
		return fmt.Errorf("the person said no, and the call got an error, as if nobody had answered: %w", r.err)
	case r.allows():
		return errors.New("the person said no and the call was allowed")
	case !strings.Contains(r.answer.Message, words):
		return fmt.Errorf("the model does not get to read what the person said: %q", r.answer.Message)
	}
	return nil
}

func approverAsk(ctx context.Context, e *approverExam) error {
	for _, d := range []toolcrib.Decision{toolcrib.Ask, 7} {
		r, err := e.asked(ctx, question(int(d)), toolcrib.Answer{Decision: d, By: "bob"})
		if errors.Is(err, errUnsaid) {
			continue
		}
		if err != nil || r.allows() {
			return errors.Join(fmt.Errorf("the person answered %s and the call got %+v", d, r), err)
		}
	}
	return nil
}

func approverEdited(ctx context.Context, e *approverExam) error {
	const edited = `{"id":2,"text":"a\u0000b","n":1.0}`
	r, err := e.asked(ctx, question(1), toolcrib.Answer{Decision: toolcrib.Allow, By: "bob", Input: json.RawMessage(edited)})
	if errors.Is(err, errUnsaid) {
		return nil
	}
	if err == nil && (!r.allows() || !sameJSON(r.answer.Input, []byte(edited))) {
		err = fmt.Errorf("the person gave %s and the call got %+v", edited, r)
	}
	return err
}

// sameJSON compares two texts as JSON.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && bytes.Equal(x.Bytes(), y.Bytes())
}

func approverSilence(ctx context.Context, e *approverExam) error {
	return e.unanswered(ctx, question(1))
}

func approverGone(ctx context.Context, e *approverExam) error {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	r, err := wait(e.approve(ctx, question(1)))
	if err == nil && r.allows() {
		err = errors.New("a call whose caller had gone was allowed")
	}
	return err
}

func approverOnce(ctx context.Context, e *approverExam) error {
	q := question(1)
	if _, err := e.asked(ctx, q, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}); err != nil {
		return err
	}
	q.Call.ID = "call-again"
	return e.unanswered(ctx, q)
}

func approverOther(ctx context.Context, e *approverExam) error {
	if _, err := e.asked(ctx, question(1), toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}); err != nil {
		return err
	}
	input, spec, subject := question(2), question(3), question(4)
	spec.Input, spec.Spec.Name, spec.Call.Tool = question(1).Input, "cancel", "cancel"
	subject.Input, subject.Call.Caller.Subject = question(1).Input, "eve"
	return errors.Join(e.unanswered(ctx, input), e.unanswered(ctx, spec), e.unanswered(ctx, subject))
}

// approverMany answers in the order opposite to that of the questions.
func approverMany(ctx context.Context, e *approverExam) error {
	const calls = 8
	ctx, cancel := context.WithTimeout(ctx, approverWait)
	defer cancel()
	said := func(i int) toolcrib.Answer {
		a := toolcrib.Answer{Decision: toolcrib.Allow, By: "bob", Message: fmt.Sprintf("about %d", i)}
		if i%2 == 0 {
			a.Decision = toolcrib.Deny
		}
		return a
	}
	var got []<-chan reply
	for i := range calls {
		got = append(got, e.approve(ctx, question(i)))
	}
	var faults []error
	for i := range calls {
		if err := e.answer(ctx, question(calls-1-i), said(calls-1-i)); err != nil {
			faults = append(faults, fmt.Errorf("answering question %d of %d: %w", calls-1-i, calls, err))
		}
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	for i, g := range got {
		r, err := wait(g)
		if err == nil && (r.err != nil || r.answer.Decision != said(i).Decision || r.answer.Message != said(i).Message) {
			err = fmt.Errorf("question %d got %+v, want %+v", i, r, said(i))
		}
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

func approverChanges(ctx context.Context, e *approverExam) error {
	q := question(1)
	if _, err := e.asked(ctx, q, toolcrib.Answer{Decision: toolcrib.Allow, By: "bob"}); err != nil {
		return err
	}
	if want := question(1); !bytes.Equal(q.Input, want.Input) || !slices.EqualFunc(q.Reasons, want.Reasons, func(a, b toolcrib.Verdict) bool { return a == b }) {
		return fmt.Errorf("it writes into the question that the crib still holds: %+v", q)
	}
	return nil
}

// approverStrange asks what hardly anybody can read. It may be refused; it must
// not bring anything down, and nothing goes through.
func approverStrange(ctx context.Context, e *approverExam) error {
	var faults []error
	for i, change := range []func(*toolcrib.Question){
		func(q *toolcrib.Question) { *q = toolcrib.Question{} },
		func(q *toolcrib.Question) { q.Input = nil },
		func(q *toolcrib.Question) { q.Input = json.RawMessage(`{"id":`) },
		func(q *toolcrib.Question) { q.Input = mustJSON(strings.Repeat("x", 2<<20)) },
		func(q *toolcrib.Question) {
			q.Input = json.RawMessage(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
		},
		func(q *toolcrib.Question) { q.Text, q.Options = "\x00\xff\u202e", []string{"", "\x1b[2J"} },
		func(q *toolcrib.Question) { q.Preview = strings.Repeat("+line\n", 200000) },
		func(q *toolcrib.Question) { q.Call.Caller = toolcrib.Caller{} },
	} {
		q := question(100 + i)
		change(&q)
		if err := e.unanswered(ctx, q); err != nil {
			faults = append(faults, fmt.Errorf("strange question %d: %w", i, err))
		}
	}
	return errors.Join(faults...)
}
