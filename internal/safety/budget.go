package safety

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/policy"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// BudgetLimit is one bound on what calls may use. Of the bounds that are set
// every one counts; a bound of zero is none.
type BudgetLimit struct {
	Name string // how refusals call it

	// Which calls it is about: names or patterns with * and ?; empty is any.
	Subject, Agent, Session, Organisation string
	Tools                                 []policy.Selector // empty: all
	// Each says what is counted apart: subject, agent, session, organisation,
	// tool. Without it, all the calls it is about are counted together.
	Each []string

	Per     time.Duration // the time that the totals are for: any such time, not only the one of a clock
	Calls   int64
	Seconds float64 // of tools running
	Bytes   int64   // of results
	Money   float64 // by the prices, and by what models cost
	Tokens  int64   // that models read and wrote

	Rate  float64 // calls a minute, evenly
	Burst int     // how many at once; 0: one
}

// BudgetPrice is what a call of a tool costs. Of several that fit a tool the
// highest counts.
type BudgetPrice struct {
	Tools policy.Selector
	Money float64
}

// Budget holds calls to limits, in memory: as a guard it refuses ahead what
// would be refused anyway and changes nothing, as a wrapper ([Budget.Around])
// it takes what a call uses at the moment it runs, so that calls at the same
// time cannot overrun it together. Calls, money and rates are taken before a
// call, each attempt of it; seconds, bytes, tokens and what a model cost are known
// only after it, so that those under way may go over.
type Budget struct {
	limits []budgetLimit
	prices []BudgetPrice
	now    func() time.Time

	mu       sync.Mutex
	start    time.Time
	last     time.Duration // since start; it never goes back
	counters map[string]*budgetCounter
	swept    time.Duration
}

// budgetLimit is a limit that was checked.
type budgetLimit struct {
	BudgetLimit
	money int64 // in millionths, since sums of fractions drift
	time  time.Duration
	width time.Duration  // of a slot
	crowd *budgetCounter // counts for whoever there is no counter left for
}

// maxBudgetCounters bounds the memory: about 2 KB each.
const maxBudgetCounters = 4096

const budgetMicro = 1e6

// NewBudget checks limits and prices. Now nil is the system's clock.
func NewBudget(limits []BudgetLimit, prices []BudgetPrice, now func() time.Time) (*Budget, error) {
	if now == nil {
		now = time.Now
	}
	b := &Budget{prices: slices.Clone(prices), now: now, counters: map[string]*budgetCounter{}}
	var errs []error
	longest := time.Duration(0)
	for i, l := range limits {
		if l.Name == "" {
			l.Name = fmt.Sprint(i + 1)
		}
		own, err := l.checked()
		if err != nil {
			errs = append(errs, fmt.Errorf("budget %s: %w", l.Name, err))
			continue
		}
		longest = max(longest, l.Per)
		b.limits = append(b.limits, own)
	}
	for _, p := range prices {
		if !budgetNumber(p.Money) {
			errs = append(errs, fmt.Errorf("the price of %s is no amount", p.Tools))
		}
	}
	// It begins long enough ago for what is recalled.
	b.start, b.last = now().Add(-longest), longest
	return b, errors.Join(errs...)
}

func budgetNumber(n float64) bool { return n >= 0 && n <= 1e12 && !math.IsNaN(n) }

func (l BudgetLimit) checked() (budgetLimit, error) {
	own := budgetLimit{BudgetLimit: l}
	totals := l.Calls > 0 || l.Seconds > 0 || l.Bytes > 0 || l.Money > 0 || l.Tokens > 0
	switch {
	case l.Calls < 0 || l.Bytes < 0 || l.Tokens < 0 || l.Burst < 0 || l.Per < 0 || !budgetNumber(l.Seconds) || !budgetNumber(l.Money) || !budgetNumber(l.Rate):
		return own, errors.New("a bound is negative, or no number")
	case !totals && l.Rate == 0:
		return own, errors.New("it bounds nothing: set calls, seconds, bytes, money, tokens or rate")
	case totals && l.Per < time.Second:
		return own, errors.New("totals need the time they are for: set per, to a second or more")
	case l.Burst > 0 && l.Rate == 0:
		return own, errors.New("burst is of a rate, and there is none")
	}
	for _, word := range l.Each {
		if !slices.Contains([]string{"subject", "agent", "session", "organisation", "tool"}, word) {
			return own, fmt.Errorf("nothing is counted by %q: want subject, agent, session, organisation or tool", text.ClipMiddle(word, 400))
		}
	}
	own.Burst = max(1, own.Burst)
	own.money = int64(math.Round(l.Money * budgetMicro))
	own.time = time.Duration(min(l.Seconds*float64(time.Second), float64(math.MaxInt64/2)))
	own.width = max(1, (l.Per+budgetSlots-1)/budgetSlots)
	own.crowd = &budgetCounter{tokens: float64(own.Burst)}
	return own, nil
}

// about reports whether a limit is about a call.
func (l *budgetLimit) about(c *toolcrib.Caller, spec *toolcrib.Entry) bool {
	for _, m := range [...][2]string{{l.Subject, c.Subject}, {l.Agent, c.Agent}, {l.Session, lineage.Root(c.Session)}, {l.Organisation, c.Organisation}} {
		if m[0] != "" && !toolname.Wild(m[0], m[1]) {
			return false
		}
	}
	return l.aboutTool(spec)
}

func (l *budgetLimit) aboutTool(spec *toolcrib.Entry) bool {
	return len(l.Tools) == 0 || slices.ContainsFunc(l.Tools, func(s policy.Selector) bool { return s.Picks(spec) })
}

// keys names the counters of a call; none: the limit is not about it. What a delegate
// uses, each of its lineage uses: else every one that is put to work would bring a
// budget of its own.
func (l *budgetLimit) keys(index int, c *toolcrib.Caller, spec *toolcrib.Entry) []string {
	var out []string
	for name := range strings.SplitSeq(c.Agent, lineage.Sign) {
		one := *c
		one.Agent = name
		if !l.about(&one, spec) {
			continue
		}
		if key := l.key(index, &one, spec); !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// key names the counter of a call.
func (l *budgetLimit) key(index int, c *toolcrib.Caller, spec *toolcrib.Entry) string {
	var b strings.Builder
	fmt.Fprint(&b, index)
	for _, word := range l.Each {
		value := c.Subject
		switch word {
		case "agent":
			value = c.Agent
		case "session":
			value = lineage.Root(c.Session)
		case "organisation":
			value = c.Organisation
		case "tool":
			value = spec.Box + "/" + spec.Native
		}
		fmt.Fprintf(&b, " %d:%s", len(value), value) // lengths keep two names from trading letters
	}
	return budgetKey(b.String())
}

// price is what a call costs, in millionths.
func (b *Budget) price(spec *toolcrib.Entry) int64 {
	highest := 0.
	for i := range b.prices {
		if b.prices[i].Tools.Picks(spec) {
			highest = max(highest, b.prices[i].Money)
		}
	}
	return int64(math.Round(highest * budgetMicro))
}

// Judge refuses a call ahead whose budget is used up. It takes nothing.
func (b *Budget) Judge(_ context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, price := b.elapsed(), b.price(&r.Spec)
	for i := range b.limits {
		l := &b.limits[i]
		for _, key := range l.keys(i, &r.Call.Caller, &r.Spec) {
			if why := l.short(b.find(i, key, now), now, price, isModel(&r.Spec)); why != "" {
				return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "budget", Rule: l.Name, Reason: why}, nil
			}
		}
	}
	return nil, nil
}

// Around makes a tool take from the budget when it runs.
func (b *Budget) Around(spec toolcrib.Entry, t toolcrib.Tool) toolcrib.Tool {
	if !slices.ContainsFunc(b.limits, func(l budgetLimit) bool { return l.aboutTool(&spec) }) {
		return t
	}
	run := t.Run
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (result *toolcrib.Result, err error) {
		taken, err := b.reserve(&env.Call.Caller, &spec, modelPlan(&spec, input))
		if err != nil {
			return nil, err
		}
		start := b.now()
		defer func() { b.recordUse(taken, &spec, b.now().Sub(start), result) }() // a panic has used time as well
		return run(ctx, env, input)
	}
	return t
}

// budgetReservation is a counter that a call was taken from.
type budgetReservation struct {
	limit   *budgetLimit
	counter *budgetCounter
	slot    int64
	planned budgetUse // counted until it is known what was used
}

// reserve takes a call from every limit it falls under, or from none. What it will
// probably use counts from now on: else any number of calls at a time would find room.
func (b *Budget) reserve(c *toolcrib.Caller, spec *toolcrib.Entry, planned budgetUse) ([]budgetReservation, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now, price := b.elapsed(), b.price(spec)
	var taken []budgetReservation
	for i := range b.limits {
		l := &b.limits[i]
		for _, key := range l.keys(i, c, spec) {
			if why := l.short(b.find(i, key, now), now, price, isModel(spec)); why != "" {
				return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "budget: " + why}
			}
			taken = append(taken, budgetReservation{l, b.counter(i, key, now), l.slot(now), planned})
		}
	}
	for _, t := range taken {
		t.counter.add(t.slot, budgetUse{calls: 1, money: price})
		t.counter.add(t.slot, planned)
		t.counter.refill(t.limit, now)
		t.counter.tokens--
	}
	return taken, nil
}

// recordUse adds what is known only after a call.
func (b *Budget) recordUse(taken []budgetReservation, spec *toolcrib.Entry, took time.Duration, r *toolcrib.Result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	use := budgetUse{time: max(0, took), bytes: budgetSize(r)}
	if r != nil {
		use.plus(modelUse(spec, r.Value))
	}
	now := b.elapsed()
	for _, t := range taken {
		t.counter.giveBack(t.slot, t.planned)
		t.counter.add(t.limit.slot(now), use)
	}
}

func budgetSize(r *toolcrib.Result) int64 {
	if r == nil {
		return 0
	}
	size := len(r.Value)
	for i := range r.Content {
		size += len(r.Content[i].Text) + len(r.Content[i].Data)
	}
	return int64(size)
}

// Recall counts a call that an earlier process made and recorded: totals of a
// day outlive a restart. Rates begin anew.
func (b *Budget) Recall(r *toolcrib.Record, spec *toolcrib.Entry) {
	if !hasRun(r) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now, at := b.elapsed(), r.Start.Sub(b.start)
	if at < 0 || at > now {
		at = min(max(at, 0), now)
	}
	attempts := int64(max(1, r.Attempts))
	use := budgetUse{calls: attempts, money: attempts * b.price(spec), time: r.Duration, bytes: int64(len(r.Result))}
	var kept struct {
		Value json.RawMessage `json:"value"`
	}
	if json.Unmarshal(r.Result, &kept) == nil {
		use.plus(modelUse(spec, kept.Value))
	}
	for i := range b.limits {
		l := &b.limits[i]
		if !r.Start.After(b.start.Add(now - l.Per)) {
			continue
		}
		for _, key := range l.keys(i, &r.Caller, spec) {
			b.counter(i, key, now).add(l.slot(at), use)
		}
	}
}

// Longest is the longest time that a total is for: older calls do not matter.
func (b *Budget) Longest() time.Duration {
	longest := time.Duration(0)
	for i := range b.limits {
		longest = max(longest, b.limits[i].Per)
	}
	return longest
}

// hasRun: the call came past judge and approve. A tool that ran may answer with
// any code, so that the outcome does not say it.
func hasRun(r *toolcrib.Record) bool {
	strictest, judged := toolcrib.Allow, false
	for _, v := range r.Verdicts {
		if !v.Note {
			judged, strictest = true, min(strictest, v.Decision)
		}
	}
	return r.Outcome != "" && judged && (strictest == toolcrib.Allow || strictest == toolcrib.Ask && r.ApprovedBy != "")
}
