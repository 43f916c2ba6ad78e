package policy

import (
	"errors"
	"fmt"
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/condition"
)

// Conditions compiles the expressions of rules and keeps what it compiled, so
// that reading the same rules again costs nothing. It may be used by many at
// once. Expressions know
//
//	args     the arguments of the call
//	caller   subject, agent, session, via, dialect, organisation, token
//	effects  what the tool may do, as a list of words
//	path     the file that it names: absolute, cleaned and links followed; empty
//	         for none. args.path is as the caller wrote it, and can be written in
//	         many ways
//	tool     its native name
//	box      its toolbox
//
// and nothing else: no time, no files, no state. They are not Turing-complete,
// and one that costs too much counts as one that fails.
type Conditions struct {
	mu   sync.Mutex
	done map[conditionKey]*compiled
}

type conditionKey struct {
	text string
	cost int
}

// The bounds on expressions. A unit of cost is about one operation, or ten
// bytes of text that are looked at.
const (
	maxCost       = 200_000 // some 20 ms
	maxCostBelow  = 20_000  // in layers that bring files from elsewhere
	maxConditions = 10_000
	// maxLooked is how many bytes of arguments the conditions from elsewhere may
	// look at in one call, all together: the cost of an operation is only known
	// when it is done.
	maxLooked = 32 << 20
)

// compiled is an expression that was read, and what it may cost.
type compiled struct {
	text    string
	cost    int // less in a layer that brings files from elsewhere
	program *condition.Program
}

func (c *Conditions) compile(text string, cost int) (*compiled, error) {
	if c == nil {
		return nil, errors.New("conditions are not known here")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, ok := c.done[conditionKey{text, cost}]; ok {
		return got, nil
	}
	program, err := condition.Compile(text, conditionNames())
	if err != nil {
		return nil, fmt.Errorf("reading the condition: %w", err)
	}
	got := &compiled{text: text, cost: cost, program: program}
	if c.done == nil || len(c.done) >= maxConditions {
		c.done = map[conditionKey]*compiled{}
	}
	c.done[conditionKey{text, cost}] = got
	return got, nil
}

// conditionNames is what expressions know.
func conditionNames() map[string]condition.Type {
	return map[string]condition.Type{
		"args":    condition.MapOf(condition.Any()),
		"caller":  condition.MapOf(condition.Text()),
		"effects": condition.ListOf(condition.Text()),
		"path":    condition.Text(),
		"tool":    condition.Text(),
		"box":     condition.Text(),
	}
}

// holds evaluates the expression. An error says that nobody knows.
func (c *compiled) holds(s *subject) (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			ok, err = false, fmt.Errorf("evaluating the condition: panic: %v", p)
		}
	}()
	if c.cost < maxCost {
		if s.looked += len(s.review.Input); s.looked > maxLooked {
			return false, errors.New("evaluating the condition: there are too many for so large an input")
		}
	}
	vars, err := s.variables()
	if err != nil {
		return false, err
	}
	if ok, err = c.program.Holds(vars, c.cost); err != nil {
		return false, fmt.Errorf("evaluating the condition: %w", err)
	}
	return ok, nil
}

func (s *subject) variables() (map[string]any, error) {
	if s.vars != nil {
		return s.vars, nil
	}
	args, err := s.arguments()
	if err != nil && !errors.Is(err, errUnfit) {
		return nil, err
	}
	caller, spec := s.review.Call.Caller, &s.review.Spec
	s.vars = map[string]any{
		"caller": map[string]any{
			"subject": caller.Subject, "agent": caller.Agent, "session": caller.Session, "via": caller.Frontend, "dialect": caller.Dialect,
			"organisation": caller.Organisation, "token": caller.Token,
		},
		"effects": effectWords(spec.Effects),
		"tool":    spec.Native,
		"box":     spec.Box,
	}
	if err == nil {
		s.vars["args"], s.vars["path"] = args, s.realPath() // without them, asking for one is an error
	}
	return s.vars, nil
}

// effectWords lists what a tool may do: everything if it declares nothing.
func effectWords(e toolcrib.Effects) []any {
	all := e.All()
	if all == 0 {
		return []any{"pure"}
	}
	var out []any
	for bit := toolcrib.Pure; bit != 0 && bit <= toolcrib.UsesSecrets; bit <<= 1 {
		if all&bit != 0 {
			out = append(out, bit.String())
		}
	}
	return out
}
