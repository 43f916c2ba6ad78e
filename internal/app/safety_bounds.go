package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/artifact"
	"github.com/toolcrib/toolcrib/internal/guard"
	"github.com/toolcrib/toolcrib/internal/store"
	artifactbox "github.com/toolcrib/toolcrib/toolbox/artifact"
)

// SafetyBounds sets up how much calls may use, and what is done with results
// that are too long.
type SafetyBounds struct {
	Text      int64                    `yaml:"text" unit:"bytes" project:"lower" min:"4KiB" max:"64MiB" doc:"The longest text, and the longest value, of a result that goes to a model. Of more, beginning and end are given and read_artifact pages through the rest. Results for toolcrib call, and of tools that tools use, are not cut."`
	Depth     int                      `yaml:"depth" project:"lower" min:"4" max:"1000" doc:"How deep the arguments and the value of a call may be nested."`
	Artifacts SafetyArtifacts          `yaml:"artifacts" doc:"What is kept of results that were cut. Only the session that it came up in can read it."`
	Retry     SafetyRetry              `yaml:"retry" doc:"Trying again what is not available just now. It is done only where a second run does no harm: tools that only read, that say they are repeatable, or that had not begun."`
	Timeouts  map[string]time.Duration `yaml:"timeouts" doc:"How long tools may run, by tool or selector (web_fetch, mcp__github, group:web). A tool that names a time of its own can only get less; limits.max_timeout bounds all."`
	Loops     SafetyLoops              `yaml:"loops" doc:"Agents that go in circles: the same calls with the same answers in one session."`
	Budgets   []SafetyBudget           `yaml:"budgets" project:"add" doc:"Bounds on what calls may use together. Every one that is about a call counts."`
	Prices    map[string]float64       `yaml:"prices" project:"add" doc:"What a call costs, by tool or selector, in the unit that budgets count money in. Of several the highest counts."`
}

// SafetyArtifacts bounds what is kept. A project has no say in how much: the
// directory is that of all projects.
type SafetyArtifacts struct {
	Enabled   bool          `yaml:"enabled" project:"off" doc:"Keep what is cut from results, and offer read_artifact."`
	PerCaller int64         `yaml:"per_caller" unit:"bytes" min:"64KiB" doc:"How much is kept for one session; the oldest make room."`
	Total     int64         `yaml:"total" unit:"bytes" min:"64KiB" doc:"How much is kept in all."`
	MaxAge    time.Duration `yaml:"max_age" min:"1m" doc:"How long it is kept."`
}

// SafetyRetry sets up retries.
type SafetyRetry struct {
	Max   int            `yaml:"max" project:"lower" min:"0" max:"10" doc:"How often a tool is tried again."`
	Delay time.Duration  `yaml:"delay" min:"1ms" max:"30s" doc:"The wait before the second attempt, doubled before each next one, with some chance in it."`
	Tools map[string]int `yaml:"tools" doc:"How often for some tools, by tool or selector. Of several the lowest counts."`
}

// SafetyLoops sets up when repeated calls are noticed.
type SafetyLoops struct {
	Enabled bool     `yaml:"enabled" project:"on" doc:"Watch for repeated calls."`
	Note    int      `yaml:"note" project:"lower" min:"2" max:"32" doc:"From which repetition on the result says so."`
	Stop    int      `yaml:"stop" project:"lower" min:"2" max:"32" doc:"From which on the call is stopped, until the session does something else."`
	With    string   `yaml:"with" enum:"deny,ask" doc:"How it is stopped: denied, or a person is asked."`
	Except  []string `yaml:"except" project:"drop" doc:"Tools that may be called again and again without news, by tool or selector: those that one waits with."`
}

// SafetyBudget is one bound.
type SafetyBudget struct {
	Name    string        `yaml:"name" doc:"How refusals call it."`
	For     SafetyFor     `yaml:"for" doc:"Which calls it is about."`
	Each    []string      `yaml:"each" enum:"subject,agent,session,organisation,tool" doc:"What is counted apart. Empty: all these calls together."`
	Per     time.Duration `yaml:"per" doc:"The time that the totals are for, such as 1h: in no stretch of that length is more used."`
	Calls   int64         `yaml:"calls" doc:"How many calls. 0: no bound; so for the others."`
	Seconds float64       `yaml:"seconds" doc:"How many seconds of running tools."`
	Bytes   int64         `yaml:"bytes" unit:"bytes" doc:"How much they may answer."`
	Money   float64       `yaml:"money" doc:"What they may cost, by prices."`
	Rate    float64       `yaml:"rate" doc:"How many calls a minute, evenly."`
	Burst   int           `yaml:"burst" doc:"How many of them at once. 0: one."`
}

// SafetyFor picks calls.
type SafetyFor struct {
	Subject      string   `yaml:"subject" doc:"Who calls: a name, or a pattern with * and ?. Empty: anyone; so for the others."`
	Agent        string   `yaml:"agent" doc:"The agent preset."`
	Session      string   `yaml:"session" doc:"The session."`
	Organisation string   `yaml:"organisation" doc:"The organisation."`
	Tools        []string `yaml:"tools" doc:"Tools or selectors, such as web_* or group:web. Empty: all."`
}

// DefaultBounds is what a fresh machine does: no budgets, everything else on.
func DefaultBounds() SafetyBounds {
	return SafetyBounds{
		Text: 100_000, Depth: 128,
		Artifacts: SafetyArtifacts{Enabled: true, PerCaller: 64 << 20, Total: 512 << 20, MaxAge: 24 * time.Hour},
		Retry:     SafetyRetry{Max: 2, Delay: 200 * time.Millisecond},
		Loops:     SafetyLoops{Enabled: true, Note: 5, Stop: 10, With: "deny", Except: []string{"shell/command_output"}},
	}
}

// boundsSafety is the guards, wrappers and the vetter of these settings.
type boundsSafety struct {
	Guards []toolcrib.Guard
	Vetter toolcrib.Vetter                     // to be the very last
	Around []func(toolcrib.Tool) toolcrib.Tool // in this order, innermost first

	budget    *guard.Budget // nil: there are none
	artifacts *artifact.Store
	locked    func() error // why nothing may be kept; nil: everything may
}

// Close gives the directory of artifacts back.
func (b *boundsSafety) Close() error {
	if b.artifacts == nil {
		return nil
	}
	return b.artifacts.Close()
}

var _ io.Closer = (*boundsSafety)(nil)

// openBounds builds them. Most is the grant of the crib.
func openBounds(cfg SafetyBounds, most toolcrib.Grant, needs Needs) (*boundsSafety, error) {
	b := &boundsSafety{}
	var errs []error
	for _, open := range []func(SafetyBounds) error{b.openBudgets, b.openRetries, b.openLoops} { // each attempt counts, each call is one step
		errs = append(errs, open(cfg))
	}
	times, err := timeLimits(cfg.Timeouts)
	if errs = append(errs, err); len(times) > 0 {
		b.Guards = append(b.Guards, &guard.Times{Limits: times, Most: most})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, BadConfig{err}
	}
	cutter := &artifact.Cutter{
		Size: int(cfg.Text), Reader: "read_artifact", Log: needs.Log,
		Whole: func(c toolcrib.Call) bool { return c.Caller.Via == "cli" }, // for programs and files, and all of it was asked for
	}
	b.Vetter = cutter
	if !cfg.Artifacts.Enabled {
		return b, nil
	}
	b.artifacts, err = artifact.Open(artifact.Config{
		Dir: filepath.Join(needs.State, "artifacts"), PerCaller: cfg.Artifacts.PerCaller, Total: cfg.Artifacts.Total, MaxAge: cfg.Artifacts.MaxAge,
	})
	if err != nil {
		return nil, err
	}
	cutter.Keep = func(caller toolcrib.Caller, text []byte) (string, error) {
		if b.locked != nil && b.locked() != nil {
			return "", errors.New("the vault is locked, so that secrets in it could not be taken out")
		}
		return b.artifacts.Put(caller, text)
	}
	return b, nil
}

// box offers read_artifact. It is listed before there is a store to read from.
func (b *boundsSafety) box(ctx context.Context, cfg SafetyBounds) (toolcrib.Toolbox, error) {
	return artifactbox.Open(ctx, artifactbox.Config{Page: min(50_000, int(cfg.Text)/2)}, func(c toolcrib.Caller, id string, offset int64, limit int) ([]byte, int64, error) {
		if b == nil || b.artifacts == nil {
			return nil, 0, errors.New("no artifacts are kept here")
		}
		return b.artifacts.Read(c, id, offset, limit)
	})
}

// ownNames gives budgets of a project that nobody trusted names of ours: refusals
// tell them to the model, which must not hear the project's words as Toolcrib's.
func (l *Layers) ownNames(budgets []SafetyBudget) []SafetyBudget {
	if l == nil || len(l.Project.Bounds.Budgets) == 0 {
		return budgets
	}
	budgets = slices.Clone(budgets)
	for i := range budgets {
		own := func(b SafetyBudget) bool { return b.Name == budgets[i].Name }
		if !slices.ContainsFunc(l.User.Bounds.Budgets, own) && !slices.ContainsFunc(l.Admin.Bounds.Budgets, own) && slices.ContainsFunc(l.Project.Bounds.Budgets, own) {
			budgets[i].Name = fmt.Sprintf("%d (of the project)", i+1)
		}
	}
	return budgets
}

func (b *boundsSafety) openBudgets(cfg SafetyBounds) error {
	if len(cfg.Budgets) == 0 {
		return nil
	}
	var errs []error
	var limits []guard.BudgetLimit
	for i, c := range cfg.Budgets {
		tools, err := guard.ParseSelectors(c.For.Tools)
		if err != nil {
			errs = append(errs, fmt.Errorf("budgets[%d].for.tools: %w", i, err))
		}
		limits = append(limits, guard.BudgetLimit{
			Name: c.Name, Subject: c.For.Subject, Agent: c.For.Agent, Session: c.For.Session, Organisation: c.For.Organisation,
			Tools: tools, Each: c.Each, Per: c.Per, Calls: c.Calls, Seconds: c.Seconds, Bytes: c.Bytes, Money: c.Money, Rate: c.Rate, Burst: c.Burst,
		})
	}
	var prices []guard.BudgetPrice
	for _, word := range slices.Sorted(maps.Keys(cfg.Prices)) {
		tools, err := guard.ParseSelector(word)
		if err != nil {
			errs = append(errs, fmt.Errorf("prices: %w", err))
		}
		prices = append(prices, guard.BudgetPrice{Tools: tools, Money: cfg.Prices[word]})
	}
	budget, err := guard.NewBudget(limits, prices, nil)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	b.budget = budget
	b.Guards = append(b.Guards, budget)
	b.Around = append(b.Around, budget.Around)
	return nil
}

func (b *boundsSafety) openRetries(cfg SafetyBounds) error {
	type few struct {
		tools guard.Selector
		max   int
	}
	var list []few
	var errs []error
	for _, word := range slices.Sorted(maps.Keys(cfg.Retry.Tools)) {
		tools, err := guard.ParseSelector(word)
		if n := cfg.Retry.Tools[word]; err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("retry.tools: %s: %d: %w", word, n, errors.Join(err, errors.New("want a selector, and 0 or more"))))
		}
		list = append(list, few{tools, cfg.Retry.Tools[word]})
	}
	b.Around = append(b.Around, toolcrib.Retry(toolcrib.RetryPolicy{
		Max: cfg.Retry.Max, Delay: cfg.Retry.Delay,
		For: func(s toolcrib.Spec) (limit int, delay time.Duration, ok bool) {
			for _, f := range list {
				if f.tools.Picks(&s) && (!ok || f.max < limit) {
					limit, ok = f.max, true
				}
			}
			return limit, cfg.Retry.Delay, ok
		},
	}))
	return errors.Join(errs...)
}

func (b *boundsSafety) openLoops(cfg SafetyBounds) error {
	if !cfg.Loops.Enabled {
		return nil
	}
	except, err := guard.ParseSelectors(cfg.Loops.Except)
	if err != nil {
		return fmt.Errorf("loops.except: %w", err)
	}
	loop := &guard.Loop{Note: cfg.Loops.Note, Stop: cfg.Loops.Stop, Except: except}
	if cfg.Loops.With == "ask" {
		loop.With = toolcrib.Ask
	}
	b.Guards = append(b.Guards, loop)
	b.Around = append(b.Around, loop.Around)
	return nil
}

func timeLimits(cfg map[string]time.Duration) (list []guard.TimeLimit, err error) {
	var errs []error
	for _, word := range slices.Sorted(maps.Keys(cfg)) {
		tools, err := guard.ParseSelector(word)
		if err != nil || cfg[word] <= 0 {
			errs = append(errs, fmt.Errorf("timeouts: %s: %v: %w", word, cfg[word], errors.Join(err, errors.New("want a selector, and more than no time"))))
			continue
		}
		list = append(list, guard.TimeLimit{Tools: tools, Time: cfg[word]})
	}
	return list, errors.Join(errs...)
}

// maxRecalled bounds what a start reads of the journal.
const maxRecalled = 20_000

// recall counts what earlier processes used of the budgets. It is called when
// the tools are known: what a budget is about may go by their groups.
func (b *boundsSafety) recall(ctx context.Context, j *store.Journal, c *toolcrib.Crib, now time.Time) error {
	if b.budget == nil || b.budget.Longest() == 0 {
		return nil
	}
	records, err := j.List(ctx, store.Filter{Since: now.Add(-b.budget.Longest()), Limit: maxRecalled})
	if err != nil {
		return fmt.Errorf("counting what the budgets have left: %w", err)
	}
	specs := map[[2]string]toolcrib.Spec{}
	for spec := range c.Tools(toolcrib.Caller{}) {
		specs[[2]string{spec.Box, spec.Native}] = spec
	}
	for _, r := range slices.Backward(records) {
		spec, ok := specs[[2]string{r.Box, r.Native}]
		if !ok {
			spec = toolcrib.Spec{Box: r.Box, Native: r.Native}
		}
		b.budget.Recall(&r, &spec)
	}
	return nil
}
