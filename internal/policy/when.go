package policy

import (
	"errors"
	"fmt"
	"sync"

	"cel.dev/cel-go/cel"

	"github.com/toolcrib/toolcrib"
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
	env  *cel.Env
	done map[conditionKey]*condition
}

type conditionKey struct {
	text string
	cost uint64
}

// The bounds on expressions. A unit of cost is about one operation, or ten
// bytes of text that are looked at.
const (
	maxExpression = 4 << 10
	maxCost       = 200_000 // some 20 ms
	maxCostBelow  = 20_000  // in layers that bring files from elsewhere
	maxRegexp     = 10_000
	maxConditions = 10_000
	// maxLooked is how many bytes of arguments the conditions from elsewhere may
	// look at in one call, all together: the cost of an operation is only known
	// when it is done.
	maxLooked = 32 << 20
)

// condition is a compiled expression.
type condition struct {
	text    string
	below   bool // of a layer that brings files from elsewhere
	program cel.Program
}

func (c *Conditions) compile(text string, cost uint64) (*condition, error) {
	if c == nil {
		return nil, errors.New("conditions are not known here")
	}
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the expression has %d bytes; at most %d are taken", len(text), maxExpression)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, ok := c.done[conditionKey{text, cost}]; ok {
		return got, nil
	}
	if c.env == nil {
		env, err := newConditionEnv()
		if err != nil {
			return nil, fmt.Errorf("setting up conditions: %w", err)
		}
		c.env = env
	}
	tree, issues := c.env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("reading the condition: %w", err)
	}
	if !tree.OutputType().IsExactType(cel.BoolType) {
		return nil, fmt.Errorf("the condition gives %s and not a bool: compare it with something", tree.OutputType())
	}
	program, err := c.env.Program(tree, cel.CostLimit(cost), cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, fmt.Errorf("reading the condition: %w", err)
	}
	got := &condition{text: text, below: cost < maxCost, program: program}
	if c.done == nil || len(c.done) >= maxConditions {
		c.done = map[conditionKey]*condition{}
	}
	c.done[conditionKey{text, cost}] = got
	return got, nil
}

func newConditionEnv() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("args", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("caller", cel.MapType(cel.StringType, cel.StringType)),
		cel.Variable("effects", cel.ListType(cel.StringType)),
		cel.Variable("tool", cel.StringType),
		cel.Variable("box", cel.StringType),
		cel.Variable("path", cel.StringType),
		cel.CrossTypeNumericComparisons(true), // what JSON calls a number is 1 and 1.0
		cel.ParserExpressionSizeLimit(maxExpression),
		cel.ParserRecursionLimit(100),
		cel.RegexProgramSizeLimit(maxRegexp),
		cel.ASTValidators(cel.ValidateRegexLiterals()),
	)
}

// holds evaluates the expression. An error says that nobody knows.
func (c *condition) holds(s *subject) (ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			ok, err = false, fmt.Errorf("evaluating the condition: panic: %v", p)
		}
	}()
	if c.below {
		if s.looked += len(s.review.Input); s.looked > maxLooked {
			return false, errors.New("evaluating the condition: there are too many for so large an input")
		}
	}
	vars, err := s.variables()
	if err != nil {
		return false, err
	}
	value, _, err := c.program.Eval(vars)
	if err != nil {
		return false, fmt.Errorf("evaluating the condition: %w", err)
	}
	ok, isBool := value.Value().(bool)
	if !isBool {
		return false, errors.New("evaluating the condition: it gave no bool")
	}
	return ok, nil
}

func (s *subject) variables() (map[string]any, error) {
	if s.vars != nil {
		return s.vars, nil
	}
	args, err := s.arguments()
	if err != nil {
		return nil, err
	}
	caller, spec := s.review.Call.Caller, &s.review.Spec
	s.vars = map[string]any{
		"args": args,
		"caller": map[string]string{
			"subject": caller.Subject, "agent": caller.Agent, "session": caller.Session, "via": caller.Frontend, "dialect": caller.Dialect,
			"organisation": caller.Organisation, "token": caller.Token,
		},
		"effects": effectWords(spec.Effects),
		"path":    s.realPath(),
		"tool":    spec.Native,
		"box":     spec.Box,
	}
	return s.vars, nil
}

// effectWords lists what a tool may do: everything if it declares nothing.
func effectWords(e toolcrib.Effects) []string {
	all := e.All()
	if all == 0 {
		return []string{"pure"}
	}
	var out []string
	for bit := toolcrib.Pure; bit != 0 && bit <= toolcrib.UsesSecrets; bit <<= 1 {
		if all&bit != 0 {
			out = append(out, bit.String())
		}
	}
	return out
}
