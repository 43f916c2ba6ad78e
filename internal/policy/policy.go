package policy

import (
	"context"
	"sync/atomic"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/shellguard"
)

// Policy is the guard of mode and rules. They are one guard because a rule may
// lift the question that a mode would ask, and only the guard that asks can
// make an exception. How it goes together with the shell guard:
//
//	                 Policy says                          the shell guard says
//	a deny rule      deny                                 what it likes
//	an ask rule      ask                                  what it likes
//	plan             nothing if the line only reads,      allow, or ask if it reads
//	                 else deny                            outside of what was granted
//	default,         nothing; ask if only some layers     allow what only reads and what
//	auto-edit        allow the line                       Rules.Commands name; else ask
//	yolo             nothing                              (Unasked) ask at the floor, else allow
//
// So Policy never allows a command line: without the shell guard none runs.
type Policy struct {
	// Rules are the layers; nil: none.
	Rules *Rules
	// Mode is the mode of a call. Nil: default.
	Mode func(toolcrib.Call) Mode
	// ModeBy says what keeps the mode of a call below the one that was chosen for
	// it; empty: nothing does. Nil: nobody knows.
	ModeBy func(toolcrib.Call) string
	// Whole is the most that any call may get: what rules about paths deny is
	// taken out of it. Nil: where there are such rules, nothing is left of a call.
	Whole *toolcrib.Grant
	// Shell is the shell guard that stands beside this one; RuleOptions.Shell has
	// to be the same. Nil: no command line is understood.
	Shell *shellguard.Guard
	// Obeyed finds what other programs obey, which is asked about in every mode.
	// Nil: nothing is.
	Obeyed *Obeyed

	cache  *shellguard.Cache // what this look at a call has found out already
	unread bool              // nobody knows what the call writes, whatever its input says
}

func (p *Policy) mode(call toolcrib.Call) Mode {
	if p.Mode == nil {
		return ModeDefault
	}
	return p.Mode(call)
}

// modeReason ends a reason: which setting keeps the mode down.
func (p *Policy) modeReason(call toolcrib.Call) string {
	if p.ModeBy == nil {
		return ""
	}
	if why := p.ModeBy(call); why != "" {
		return " (" + why + ")"
	}
	return ""
}

// UnaskedByMode is Unasked where no rule counts: for lines that nothing bounds.
func (p *Policy) UnaskedByMode(call toolcrib.Call) bool {
	return p.mode(call) == ModeYolo && !lineage.Delegate(call.Caller.Agent)
}

// Unasked is what [shellguard.Guard.Unasked] wants: whether this call may run every line but
// the floor. That is so in mode yolo, and where a rule allows run_command as
// such.
func (p *Policy) Unasked(call toolcrib.Call) bool {
	switch m := p.mode(call); {
	case lineage.Delegate(call.Caller.Agent):
		return false // each of them is asked for by itself
	case m == ModeYolo:
		return true
	case m != ModeDefault && m != ModeAutoEdit || p.Rules == nil:
		return false
	}
	r := toolcrib.Review{Call: call, Input: call.Input, Spec: toolcrib.Entry{Spec: toolcrib.Spec{Group: "exec"}, Box: "shell", Native: "run_command"}}
	s := newSubject(&r, &p.Rules.opt)
	for _, l := range p.Rules.layers {
		if l.Rank.gives() && l.applies(call.Caller) && l.allow.first(s, func(a *permission) bool { return a.allows(s) }) != nil {
			return true // whether the other layers agree is said by Judge
		}
	}
	return false
}

// Judge implements [toolcrib.Guard].
func (p *Policy) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	if lineage.Delegate(r.Call.Caller.Agent) { // [Live] has it judged as each of them
		return noPolicy{}.Judge(ctx, r)
	}
	return p.narrowed(&r, p.judge(&r)), nil
}

func (p *Policy) judge(r *toolcrib.Review) *toolcrib.Verdict {
	said := p.Rules.judge(r, p.cache)
	v := p.verdict(r, said)
	if v != nil && v.Decision == toolcrib.Ask {
		v.Unseen = said.rule != nil && said.decision == toolcrib.Ask
	}
	return v
}

// verdict puts together what the rules said, the floor and the mode.
func (p *Policy) verdict(r *toolcrib.Review, said ruleAnswer) *toolcrib.Verdict {
	mode := p.mode(r.Call)
	if said.rule != nil && said.decision == toolcrib.Deny {
		return said.verdict()
	}
	if shellguard.Judges(&r.Spec) {
		return p.judgeLine(r, mode, said)
	}
	if r.ProgramAllowed && mode == ModeDefault { // whoever allowed the command has allowed its ordinary changes
		mode = ModeAutoEdit
	}
	decision, reason := mode.verdict(r.Spec.Effects)
	if decision != toolcrib.Deny {
		if v := p.obeyed(r, said); v != nil {
			return v
		}
		if v := configures(r, said); v != nil {
			return v
		}
	}
	if decision != toolcrib.Deny && said.rule != nil {
		return said.verdict()
	}
	if decision == toolcrib.Ask && handsOver(&r.Spec) {
		return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "mode", Rule: mode.String(), ChangesUnjudged: true, Reason: "it changes nothing by itself: each change that it hands over is judged"}
	}
	if decision != toolcrib.Allow {
		reason += p.modeReason(r.Call) + said.because()
	}
	return &toolcrib.Verdict{Decision: decision, Guard: "mode", Rule: mode.String(), Reason: reason}
}

// handsOver tells whether all that a tool does is judged when it has ended, as what a
// command changed: a person is asked about that, and not about the call before.
func handsOver(spec *toolcrib.Entry) bool {
	return spec.Box == "undo" && spec.Native == "restore_changes"
}

// configures asks in every mode about the two tools that write what is the person's own:
// MCP servers into the configuration, and tools into the folder of tools. Every other is
// kept from both. Only a rule that names mcp_import lifts its question. That of
// install_tool nothing lifts: each time it is about another program.
func configures(r *toolcrib.Review, said ruleAnswer) *toolcrib.Verdict {
	switch {
	case r.Spec.Box == "codegen" && r.Spec.Native == "install_tool":
		return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed", Rule: "floor",
			Reason: "it puts a program that a model wrote into your own folder of tools, with what its file declares to touch; that is asked about every time"}
	case r.Spec.Box != "hub" || r.Spec.Native != "mcp_import":
		return nil
	}
	if said.rule != nil && said.decision == toolcrib.Allow {
		if _, _, pattern, named := said.rule.tool.Named(); named && !pattern {
			return nil
		}
	}
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "obeyed", Rule: "mcp_import",
		Reason: "it writes MCP servers, which are programs to start, into your own configuration; that is asked about in every mode"}
}

// judgeLine is the verdict on what the shell guard judges too: nil leaves it to
// that.
func (p *Policy) judgeLine(r *toolcrib.Review, mode Mode, said ruleAnswer) *toolcrib.Verdict {
	if mode == ModePlan || mode > ModeYolo {
		asked := said.rule != nil && said.decision == toolcrib.Ask
		if mode == ModePlan && !asked && p.Shell.OnLayers(&r.Spec) {
			return &toolcrib.Verdict{Decision: toolcrib.Allow, Guard: "mode", Rule: mode.String(), ChangesUnjudged: true, Grant: p.Shell.Layer(),
				Reason: "the mode is plan: it runs on a layer, without network and secrets, and what it changes is dropped; build caches are kept if it changes nothing else"}
		}
		if !shellguard.RunsLines(&r.Spec) || !said.line(p.Shell, r).Harmless() {
			return &toolcrib.Verdict{Decision: toolcrib.Deny, Guard: "mode", Rule: mode.String(),
				Reason: "the mode is plan, in which only commands run that are known to do nothing but read; say what you would run, and let the person change the mode" + p.modeReason(r.Call)}
		}
	}
	only := p.Shell != nil && p.Shell.Only
	switch {
	case said.rule != nil && said.decision == toolcrib.Ask && (!said.contested || !only || mode == ModeYolo):
		return said.verdict()
	case mode == ModeYolo || !said.contested || p.Shell.ReadsFreely() && said.line(p.Shell, r).Harmless():
		return nil
	}
	v := &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "rules", Rule: "allow",
		Reason: "a rule would allow this line, but not to this caller, or not every part of it" + said.because()}
	if only || p.Shell != nil && p.Shell.Refuse {
		v.Decision = toolcrib.Deny // nobody is asked
	}
	return v
}

// because ends a reason: which rule does not count, and why.
func (s *ruleAnswer) because() string {
	if s.but == "" {
		return ""
	}
	return "; " + s.but
}

// line is the command line of the call, read once.
func (s *ruleAnswer) line(shell *shellguard.Guard, r *toolcrib.Review) *shellguard.Line {
	if s.subject != nil && s.subject.opt.Shell == shell {
		return s.subject.commandLine()
	}
	return shell.Line(r, nil)
}

// Live is a Policy, with its shell guard, that can be exchanged while calls are
// made. Both go by the same rules, so they are exchanged together.
type Live struct{ now atomic.Pointer[Policy] }

// Set puts a policy up. A call that is being judged keeps the one it began with.
func (l *Live) Set(p *Policy) { l.now.Store(p) }

// Policy is the one that holds now; nil: none.
func (l *Live) Policy() *Policy { return l.now.Load() }

// Guards is what [toolcrib.Crib.MoreGuards] wants, for one look at one call. As long as there is no policy
// nothing is allowed.
func (l *Live) Guards() []toolcrib.Guard {
	switch p := l.now.Load(); {
	case p == nil:
		return []toolcrib.Guard{noPolicy{}}
	case p.Shell == nil:
		return asEach(p)
	default:
		policy, shell := *p, *p.Shell
		policy.cache, policy.Obeyed = &shellguard.Cache{}, p.Obeyed.once()
		shell.Cache = policy.cache
		return asEach(&policy, &shell)
	}
}

type noPolicy struct{}

func (noPolicy) Judge(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) {
	return &toolcrib.Verdict{Guard: "rules", Rule: "none", Reason: "no policy was loaded, so nothing is done"}, nil
}
