// Package kit tries whether a program is a plugin: it starts it, talks to it as the
// hub does and as a clumsy client would, and says point by point what holds. It is
// for people who write plugins in other languages; internal/app hands it to the
// command line. docs/plugins.md is the page that it checks.
//
// Its one invariant: no tool is called but the one that is named, because calls
// have effects.
package kit

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// Config is what is tried.
type Config struct {
	// Start starts the program, with these variables besides its own.
	Start func(ctx context.Context, env map[string]string, stderr io.Writer) (client.Process, error)
	// Call is a tool to call. Empty: no tool is called.
	Call string
	// Arguments gives what it is called with, by its schema. Nil: an empty object.
	Arguments func(schema json.RawMessage) (json.RawMessage, error)
	// Patience is how long an answer may take. Zero: 10 s, and a minute for a call.
	Patience time.Duration
	// End is how long the program may take to end. Zero: 2 s, as the hub gives it.
	End time.Duration
}

// State says how a check went.
type State string

// The states. A note is nothing wrong, but worth knowing.
const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped"
	Note    State = "note"
)

// Check is one point and what became of it.
type Check struct {
	Name  string `json:"check"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
}

// Report is what was found.
type Report struct {
	Checks []Check  `json:"checks"`
	Tools  []string `json:"tools"`
	Stderr string   `json:"stderr,omitempty"` // the end of what the program wrote there
}

// Bad is how many checks failed.
func (r Report) Bad() (n int) {
	for _, c := range r.Checks {
		if c.State == Failed {
			n++
		}
	}
	return n
}

// point is one of the checks. Its error is why it failed, unless it says otherwise.
type point struct {
	name string
	try  func(*kit, context.Context) error
	// calls: it calls the tool that was named.
	calls bool
}

func points() []point {
	return []point{
		{name: "it starts and answers initialize", try: (*kit).starts},
		{name: "it agrees on a version of the protocol", try: (*kit).negotiates},
		{name: "it goes on after a request that it does not know, before initialize", try: (*kit).discovered},
		{name: "it lists its tools", try: (*kit).lists},
		{name: "its tools have names that can be used", try: (*kit).names},
		{name: "the schemas of its tools can be read", try: (*kit).schemas},
		{name: "it answers ping", try: (*kit).pings},
		{name: "it answers 50 requests at once, each under its own id", try: (*kit).many},
		{name: "it refuses an unknown method with -32601", try: (*kit).unknownMethod},
		{name: "it says nothing to a notification", try: (*kit).notified},
		{name: "it refuses a tool that it does not have", try: (*kit).unknownTool},
		{name: "it goes on after a line that is no JSON", try: (*kit).badLine},
		{name: "it answers the call", try: (*kit).called, calls: true},
		{name: "its progress goes up", try: (*kit).progress, calls: true},
		{name: "it takes several calls at once", try: (*kit).together, calls: true},
		{name: "it goes on after a call that was cancelled", try: (*kit).cancelled, calls: true},
		{name: "it writes nothing but messages to its standard output", try: (*kit).onlyMessages},
		{name: "it ends when its input ends", try: (*kit).ends},
		{name: "it leaves no process behind", try: (*kit).leavesNothing},
	}
}

// kit is one run of all checks.
type kit struct {
	cfg    Config
	mark   string // a variable that all processes of the program have
	stderr tail
	now    *talk // the program that runs; nil: none does
	broken error // it does not start, so that nothing more can be tried

	tools  []tool
	callID json.RawMessage // of the first call
	took   time.Duration   // by it
	answer []event         // what was heard of it

	mu    sync.Mutex
	noise []string // lines that are no messages, of all runs
}

// Run tries everything. It goes on after what fails.
func Run(ctx context.Context, cfg Config) Report {
	k := &kit{cfg: cfg, mark: "TOOLCRIB_CHECK=" + rand.Text()}
	report := Report{Tools: []string{}}
	for _, p := range points() {
		c := Check{Name: p.name, State: Passed}
		switch {
		case ctx.Err() != nil:
			c.State, c.Why = Skipped, "it was interrupted"
		case p.calls && cfg.Call == "":
			c.State, c.Why = Skipped, "no tool was named to be called (--call)"
		case k.broken != nil:
			c.State, c.Why = Skipped, "it does not start"
		default:
			if err := p.try(k, ctx); err != nil {
				c.State, c.Why = Failed, err.Error()
				if other, ok := errors.AsType[remark](err); ok {
					c.State = other.state
				}
			}
		}
		report.Checks = append(report.Checks, c)
	}
	k.stop()
	for _, t := range k.tools {
		report.Tools = append(report.Tools, t.Name)
	}
	report.Stderr = strings.TrimSpace(k.stderr.String())
	return report
}

// remark is no failure.
type remark struct {
	state State
	text  string
}

func (r remark) Error() string { return r.text }

// patience is how long an answer may take.
func (k *kit) patience() time.Duration { return cmp.Or(k.cfg.Patience, 10*time.Second) }

// callPatience is how long a call may take.
func (k *kit) callPatience() time.Duration { return cmp.Or(k.cfg.Patience, time.Minute) }

// running gives a program that has been greeted: the one that runs, or a new one if
// that has died of an earlier check.
func (k *kit) running(ctx context.Context) (*talk, error) {
	if k.now != nil && !k.now.over() {
		return k.now, nil
	}
	t, err := k.open(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := t.greet(ctx, newest); err != nil {
		return nil, err
	}
	return t, nil
}

// open starts the program anew, and says nothing to it.
func (k *kit) open(ctx context.Context) (*talk, error) {
	k.stop()
	name, value, _ := strings.Cut(k.mark, "=")
	p, err := k.cfg.Start(ctx, map[string]string{name: value}, &k.stderr)
	if err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	k.now = newTalk(p, k.patience(), func(line string) {
		k.mu.Lock()
		defer k.mu.Unlock()
		if len(k.noise) < 3 {
			k.noise = append(k.noise, line)
		}
	})
	return k.now, nil
}

// stop ends the program that runs.
func (k *kit) stop() {
	if k.now != nil {
		k.now.close(nextTime)
		k.now = nil
	}
}

// tail keeps the end of what the program complained about.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - 8<<10; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.ToValidUTF8(t.text, []byte("�")))
}

// quote shows a piece of what was heard.
func quote(text []byte) string {
	if len(text) > 200 {
		text = append(text[:200:200], "…"...)
	}
	return string(bytes.ToValidUTF8(bytes.TrimSpace(text), []byte("�")))
}

func jsonOf(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(`null`) // it is all texts and numbers
	}
	return text
}
