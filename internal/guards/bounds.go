package guards

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/artifact"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/safety"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/store"
	"github.com/toolcrib/toolcrib/retry"
)

// Bounds is the guards, wrappers and the vetter of these settings.
type Bounds struct {
	Guards []toolcrib.Guard
	Vetter toolcrib.Vetter                                     // to be the very last
	Around []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool // in this order, innermost first

	budget    *safety.Budget // nil: there are none
	Artifacts *artifact.Store
}

// Close gives the directory of artifacts back.
func (b *Bounds) Close() error {
	if b.Artifacts == nil {
		return nil
	}
	return b.Artifacts.Close()
}

var _ io.Closer = (*Bounds)(nil)

// BoundsNeeds is what openBounds takes besides the settings.
type BoundsNeeds struct {
	Most   toolcrib.Grant // the grant of the crib
	Dir    string         // of artifacts
	Locked func() error   // why nothing may be kept; nil, or an answer of nil: everything may
	Log    *slog.Logger
}

// OpenBounds builds them.
func OpenBounds(cfg settings.SafetyBounds, needs BoundsNeeds) (*Bounds, error) {
	b := &Bounds{}
	var errs []error
	for _, open := range []func(settings.SafetyBounds) error{b.openBudgets, b.openRetries, b.openLoops} { // each attempt counts, each call is one step
		errs = append(errs, open(cfg))
	}
	times, err := timeLimits(cfg.Timeouts)
	if errs = append(errs, err); len(times) > 0 {
		b.Guards = append(b.Guards, &safety.Times{Limits: times, Most: needs.Most})
	}
	if err := errors.Join(errs...); err != nil {
		return nil, settings.Bad(err)
	}
	cutter := &artifact.Cutter{
		Size: int(cfg.Text), Reader: "read_artifact", Log: needs.Log,
		Whole: func(c toolcrib.Call) bool { return c.Caller.Frontend == "cli" }, // for programs and files, and all of it was asked for
	}
	b.Vetter = cutter
	if !cfg.Artifacts.Enabled {
		return b, nil
	}
	b.Artifacts, err = artifact.Open(artifact.Config{
		Dir: needs.Dir, PerCaller: cfg.Artifacts.PerCaller, Total: cfg.Artifacts.Total, MaxAge: cfg.Artifacts.MaxAge,
	})
	if err != nil {
		return nil, err
	}
	cutter.Keep = func(caller toolcrib.Caller, text []byte) (string, error) {
		if needs.Locked != nil && needs.Locked() != nil {
			return "", errors.New("the vault is locked, so that secrets in it could not be taken out")
		}
		return b.Artifacts.Put(caller, text)
	}
	return b, nil
}

// Read gives a part of an artifact. Its tool is listed before there is a store to
// read from.
func (b *Bounds) Read(c toolcrib.Caller, id string, offset int64, limit int) ([]byte, int64, error) {
	if b == nil || b.Artifacts == nil {
		return nil, 0, errors.New("no artifacts are kept here")
	}
	return b.Artifacts.Read(c, id, offset, limit)
}

// checkBudget says what is wrong with a budget.
func checkBudget(budget settings.SafetyBudget) error {
	return (&Bounds{}).openBudgets(settings.SafetyBounds{Budgets: []settings.SafetyBudget{budget}})
}

// checkPrice says what is wrong with a price.
func checkPrice(tools string, price float64) error {
	sound := settings.SafetyBudget{Name: "any", Rate: 1} // prices are read where there are budgets
	return (&Bounds{}).openBudgets(settings.SafetyBounds{Budgets: []settings.SafetyBudget{sound}, Prices: map[string]float64{tools: price}})
}

func (b *Bounds) openBudgets(cfg settings.SafetyBounds) error {
	if len(cfg.Budgets) == 0 {
		return nil
	}
	var errs []error
	var limits []safety.BudgetLimit
	for i, c := range cfg.Budgets {
		tools, err := policy.ParseSelectors(c.For.Tools)
		if err != nil {
			errs = append(errs, fmt.Errorf("budgets[%d].for.tools: %w", i, err))
		}
		limits = append(limits, safety.BudgetLimit{
			Name: c.Name, Subject: c.For.Subject, Agent: c.For.Agent, Session: c.For.Session, Organisation: c.For.Organisation,
			Tools: tools, Each: c.Each, Per: c.Per, Calls: c.Calls, Seconds: c.Seconds, Bytes: c.Bytes, Money: c.Money, Tokens: c.Tokens, Rate: c.Rate, Burst: c.Burst,
		})
	}
	var prices []safety.BudgetPrice
	for _, word := range slices.Sorted(maps.Keys(cfg.Prices)) {
		tools, err := policy.ParseSelector(word)
		if err != nil {
			errs = append(errs, fmt.Errorf("prices: %w", err))
		}
		prices = append(prices, safety.BudgetPrice{Tools: tools, Money: cfg.Prices[word]})
	}
	budget, err := safety.NewBudget(limits, prices, nil)
	if err := errors.Join(append(errs, err)...); err != nil {
		return err
	}
	b.budget = budget
	b.Guards = append(b.Guards, budget)
	b.Around = append(b.Around, budget.Around)
	return nil
}

func (b *Bounds) openRetries(cfg settings.SafetyBounds) error {
	type few struct {
		tools policy.Selector
		max   int
	}
	var list []few
	var errs []error
	for _, word := range slices.Sorted(maps.Keys(cfg.Retry.Tools)) {
		tools, err := policy.ParseSelector(word)
		if n := cfg.Retry.Tools[word]; err != nil || n < 0 {
			errs = append(errs, fmt.Errorf("retry.tools: %s: %d: %w", word, n, errors.Join(err, errors.New("want a selector, and 0 or more"))))
		}
		list = append(list, few{tools, cfg.Retry.Tools[word]})
	}
	b.Around = append(b.Around, retry.Around(retry.Policy{
		Max: cfg.Retry.Max, Delay: cfg.Retry.Delay,
		For: func(s toolcrib.Entry) (limit int, delay time.Duration, ok bool) {
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

func (b *Bounds) openLoops(cfg settings.SafetyBounds) error {
	if !cfg.Loops.Enabled {
		return nil
	}
	except, err := policy.ParseSelectors(cfg.Loops.Except)
	if err != nil {
		return fmt.Errorf("loops.except: %w", err)
	}
	loop := &safety.Loop{Note: cfg.Loops.Note, Stop: cfg.Loops.Stop, Except: except}
	if cfg.Loops.With == "ask" {
		loop.With = toolcrib.Ask
	}
	b.Guards = append(b.Guards, loop)
	b.Around = append(b.Around, loop.Around)
	return nil
}

func timeLimits(cfg map[string]time.Duration) (list []safety.TimeLimit, err error) {
	var errs []error
	for _, word := range slices.Sorted(maps.Keys(cfg)) {
		tools, err := policy.ParseSelector(word)
		if err != nil || cfg[word] <= 0 {
			errs = append(errs, fmt.Errorf("timeouts: %s: %v: %w", word, cfg[word], errors.Join(err, errors.New("want a selector, and more than no time"))))
			continue
		}
		list = append(list, safety.TimeLimit{Tools: tools, Time: cfg[word]})
	}
	return list, errors.Join(errs...)
}

// maxRecalled bounds what a start reads of the journal.
const maxRecalled = 20_000

// Recall counts what earlier processes used of the budgets. It is called when
// the tools are known: what a budget is about may go by their groups.
func (b *Bounds) Recall(ctx context.Context, j *store.Journal, c *toolcrib.Crib, now time.Time) error {
	if b.budget == nil || b.budget.Longest() == 0 {
		return nil
	}
	records, err := j.List(ctx, store.Filter{Since: now.Add(-b.budget.Longest()), Limit: maxRecalled})
	if err != nil {
		return fmt.Errorf("counting what the budgets have left: %w", err)
	}
	specs := map[[2]string]toolcrib.Entry{}
	for spec := range c.Tools(toolcrib.Caller{}) {
		specs[[2]string{spec.Box, spec.Native}] = spec
	}
	for _, r := range slices.Backward(records) {
		spec, ok := specs[[2]string{r.Box, r.Native}]
		if !ok {
			spec = toolcrib.Entry{Box: r.Box, Native: r.Native}
		}
		b.budget.Recall(&r, &spec)
	}
	return nil
}

// ForModels is what of it requests to models stand under: budgets, and times. Repeated
// requests are no loop, and their answers are not results.
func (b *Bounds) ForModels() (list []toolcrib.Guard, around []func(toolcrib.Entry, toolcrib.Tool) toolcrib.Tool) {
	for _, g := range b.Guards {
		switch g.(type) {
		case *safety.Budget, *safety.Times:
			list = append(list, g)
		}
	}
	if b.budget != nil {
		around = append(around, b.budget.Around)
	}
	return list, around
}

// Used tells how much of each budget is used, see [safety.Budget.Used].
func (b *Bounds) Used() map[string]float64 {
	if b == nil || b.budget == nil {
		return nil
	}
	return b.budget.Used()
}
