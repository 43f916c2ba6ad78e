package coding

import (
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/codemode"
	"github.com/toolcrib/toolcrib/internal/scriptfile"
	"github.com/toolcrib/toolcrib/internal/settings"
	box "github.com/toolcrib/toolcrib/toolbox/codemode"
	"github.com/toolcrib/toolcrib/toolbox/finder"
	"github.com/toolcrib/toolcrib/toolbox/saved"
)

// scripting is what the boxes of scripts share: what runs them, and which have worked.
type scripting struct {
	cfg   settings.CodemodeBox
	needs func() Needs

	box    *box.Box // nil until it was opened
	engine codemode.Engine
	absent string
	ran    history
}

// open opens the box of run_script.
func (s *scripting) open(ctx context.Context) (toolcrib.Toolbox, error) {
	needs := s.needs()
	pool, absent := scriptEngine(s.cfg, needs)
	own := box.Needs{Absent: absent, Worked: s.ran.add}
	if needs.Crib != nil {
		tools := finder.NewDeclarer(finder.Needs{Tools: needs.Crib.Tools, Log: needs.Log}, uncallable)
		own.Search, own.Describe = tools.Search, tools.Describe
	}
	if s.absent = absent; pool != nil {
		own.Engine, own.Close, own.Parse, s.engine = pool, pool.Close, s.parse, pool
	}
	b, err := box.Open(ctx, box.Config{Time: s.cfg.Time, MaxTime: s.cfg.MaxTime}, own)
	if err != nil {
		return nil, err
	}
	s.box = b
	return b, nil
}

// uncallable is what a script need not find: it cannot run another one, and it keeps none.
func uncallable(e toolcrib.Entry) bool { return e.Box == box.Name || e.Native == saved.SaveTool }

// openSaved opens the box of scripts that were kept. It comes after open.
func (s *scripting) openSaved(ctx context.Context) (toolcrib.Toolbox, error) {
	needs := s.needs()
	own := saved.Needs{Absent: s.absent, Parse: s.parse, Ran: s.ran.of}
	switch {
	case own.Absent != "":
	case s.box == nil || needs.Crib == nil:
		own.Absent = "there is nothing here that runs scripts"
	case needs.State == "":
		own.Absent = "there is no place here to keep scripts in"
	default:
		own.Store, own.Tools, own.Run = scriptfile.Open(needs.State), needs.Crib.Tools, s.run
		if redact := needs.Crib.RedactText; redact != nil {
			own.Hides = func(text string) bool { return redact(text) != text }
		}
	}
	return saved.Open(ctx, saved.Config{}, own)
}

// run runs a script that was kept as run_script would.
func (s *scripting) run(ctx context.Context, env *toolcrib.Env, p saved.Program) (saved.Outcome, error) {
	report, err := s.box.Runner().Run(ctx, env, box.Program{Name: p.Name, Code: p.Code, Input: p.Input, Tool: p.Tool})
	out := saved.Outcome{Value: report.Value, Log: report.Log, Mark: report.Mark()}
	if why := s.box.Why(&report, err); why != "" {
		out.Failure, err = why, nil
	}
	return out, err
}

// parse says what is wrong with a script, by having a function made of it that nobody calls.
func (s *scripting) parse(code string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_, err := s.engine.Run(ctx, codemode.Script{Code: "(async () => {" + code + "\n})", Time: 2 * time.Second}, codemode.Host{})
	switch e, ok := errors.AsType[*codemode.ScriptError](err); {
	case err == nil || ok && e.Name != "SyntaxError":
		return nil // what it does when it runs is seen then
	case ok:
		return err
	}
	return &toolcrib.Error{Code: toolcrib.CodeUnavailable, Message: "it could not be read, because no worker can be started for it now; try again", Err: err}
}

// history knows which scripts have worked since the program began.
type history struct {
	mu   sync.Mutex
	runs map[[sha256.Size]byte]*past
}

type past struct {
	tools []string
	times int
}

// mostPast is how many scripts are remembered; one more, and all are forgotten.
const mostPast = 500

func (h *history) add(code string, tools []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.runs) >= mostPast || h.runs == nil {
		h.runs = map[[sha256.Size]byte]*past{}
	}
	sum := sha256.Sum256([]byte(code))
	p := h.runs[sum]
	if p == nil {
		p = &past{}
		h.runs[sum] = p
	}
	p.times++
	for _, t := range tools {
		if !slices.Contains(p.tools, t) {
			p.tools = append(p.tools, t)
		}
	}
}

func (h *history) of(code string) (tools []string, runs int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.runs[sha256.Sum256([]byte(code))]
	if p == nil {
		return nil, 0
	}
	return slices.Clone(p.tools), p.times
}
