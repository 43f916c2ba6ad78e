package safety

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/policy"
)

// Flow watches what a conversation has read and judges what it sends. It is a
// guard, a vetter and a wrapper of tools with one memory, and has to be put in
// all three places of a crib.
//
//	the conversation has   a tool with the label public is
//	nothing                no matter
//	private                as Private says; asked about unless it is vouched for
//	untrusted              as Untrusted says
//	both                   asked about, or denied if any of the settings says so
//
// A conversation is a Session of a Subject in its Organisation, whichever agents
// take part in it; calls without a session are one conversation of their
// subject. It has a label from the moment a tool that brings it begins to run,
// so that a call made beside it counts, and keeps it: what was read cannot be
// unread. A call that a running tool makes of another (Env.Use) is of the same
// conversation; if the running tool is public, what it reads that way is judged
// as if it were sent.
//
// Judge only looks, so that it can be asked without making the call. The memory
// is bounded: the oldest conversations are kept as their labels alone, and when
// those are too many as well, what they had counts for every conversation that
// is not remembered. It ends with the process.
type Flow struct {
	Labels *policy.LabelTable
	// What a public tool is when only this was read. Allow is noted. The zero
	// value denies.
	Private, Untrusted toolcrib.Decision
	// Vouched calls are not asked about when only private data was read: where
	// they lead, nobody gets at what they carry. Nil: none is.
	Vouched func(toolcrib.Review) bool
	// Both is Ask, or Deny; Allow counts as Ask.
	Both toolcrib.Decision
	// Sessions is how many conversations are remembered with the calls that
	// brought their labels. Zero: 4096.
	Sessions int
	Now      func() time.Time // nil: time.Now

	mu      sync.Mutex
	memory  flowMemory
	running map[flowCall]*flowRun
}

// FlowGuard is the guard of the verdicts here. A question that one of them asks
// is asked every time: no remembered answer should give it, since none was given
// for what this conversation has read.
const FlowGuard = "flow"

// FlowBoth is the rule of a verdict by which all three have met.
const FlowBoth = "private+untrusted+public"

// flowCall is a call of a conversation.
type flowCall struct {
	session flowKey
	id      string
}

// flowRun is a tool at work.
type flowRun struct {
	labels policy.Labels
	tool   string
	parent string
	times  int // a retry may overlap with what it retries
}

// Judge implements [toolcrib.Guard].
func (f *Flow) Judge(ctx context.Context, r toolcrib.Review) (*toolcrib.Verdict, error) {
	key := keyOf(r.Call.Caller)
	f.mu.Lock()
	had, by := f.memory.labelsOf(key)
	above := f.above(key, r.Call.Parent)
	f.mu.Unlock()
	if had&policy.LabelsLasting == 0 && above == "" {
		return nil, nil // before the labels of the call, which may take a look at its input
	}
	labels := f.Labels.Of(ctx, r)
	sink := r.Spec.Box + "/" + r.Spec.Native
	switch {
	case labels&policy.LabelPublic != 0:
		if above != "" { // what it brings goes on to who called it
			by = by.with(labels, r.Call.ID, sink, time.Time{})
			had |= labels & policy.LabelsLasting
		}
	case above != "" && labels&policy.LabelsLasting != 0:
		by = by.with(labels, r.Call.ID, sink, time.Time{})
		had, sink = had|labels&policy.LabelsLasting, above
	default:
		return nil, nil
	}
	vouched := above == "" && f.Vouched != nil && had&policy.LabelsLasting == policy.LabelPrivate && f.decide(policy.LabelPrivate) == toolcrib.Ask && f.Vouched(r)
	return f.verdict(had&policy.LabelsLasting, by, sink, vouched), nil
}

// above finds a public tool among those that are at work and led to this call.
func (f *Flow) above(key flowKey, parent string) string {
	for range len(f.running) + 1 { // a chain has no circle, but nobody promised that
		run := f.running[flowCall{key, parent}]
		if parent == "" || run == nil {
			return ""
		}
		if run.labels&policy.LabelPublic != 0 {
			return run.tool
		}
		parent = run.parent
	}
	return ""
}

// decide is the table.
func (f *Flow) decide(had policy.Labels) toolcrib.Decision {
	switch had {
	case 0:
		return toolcrib.Allow
	case policy.LabelPrivate:
		return min(f.Private, toolcrib.Allow)
	case policy.LabelUntrusted:
		return min(f.Untrusted, toolcrib.Allow)
	}
	return min(f.Private, f.Untrusted, f.Both, toolcrib.Ask)
}

func (f *Flow) verdict(had policy.Labels, by firstSources, sink string, vouched bool) *toolcrib.Verdict {
	if had == 0 {
		return nil
	}
	v := &toolcrib.Verdict{Decision: f.decide(had), Guard: FlowGuard, Rule: (had | policy.LabelPublic).String()}
	if vouched {
		v.Decision = toolcrib.Allow
	}
	v.Note = v.Decision == toolcrib.Allow
	var parts []string
	if had&policy.LabelPrivate != 0 {
		parts = append(parts, "private data was read by "+by.private.String())
	}
	if had&policy.LabelUntrusted != 0 {
		parts = append(parts, "content from outside by "+by.untrusted.String())
	}
	v.Reason = strings.Join(parts, " and ") + ", and what " + sink + " is given can leave this machine"
	switch {
	case had == policy.LabelsLasting:
		v.Reason += "; whoever wrote that content may be the one who wants it sent"
	case vouched:
		v.Reason += ", to a place that is vouched for"
	case had == policy.LabelPrivate && !v.Note:
		v.Reason += "; what was read may hold words of others, who may be the ones who want it sent"
	}
	return v
}

// Vet implements [toolcrib.Vetter]: it writes the labels of a result down before
// anyone gets it, and leaves the result as it is.
func (f *Flow) Vet(ctx context.Context, r toolcrib.Review, given *toolcrib.Result) (*toolcrib.Result, error) {
	f.addLabels(r, f.Labels.OfResult(ctx, r, given))
	return given, nil
}

func (f *Flow) addLabels(r toolcrib.Review, labels policy.Labels) {
	if labels&policy.LabelsLasting == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memory.most = f.Sessions
	f.memory.addLabels(keyOf(r.Call.Caller), labels&policy.LabelsLasting, r.Call.ID, r.Spec.Box+"/"+r.Spec.Native, f.now())
}

func (f *Flow) now() time.Time {
	if f.Now != nil {
		return f.Now()
	}
	return time.Now()
}

// Around wraps a tool so that its labels count from its start, and that what it
// calls is known to be called by it.
func (f *Flow) Around(spec toolcrib.Entry, t toolcrib.Tool) toolcrib.Tool {
	run := t.Run
	plain := f.Labels.OfTool(&spec) == 0
	t.Run = func(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
		if plain && env.Call.Parent == "" {
			return run(ctx, env, input) // it brings nothing, and stands between nobody
		}
		r := toolcrib.Review{Call: env.Call, Spec: spec, Input: input}
		labels := f.Labels.Of(ctx, r)
		f.addLabels(r, labels)
		defer f.begin(r, labels)()
		return run(ctx, env, input)
	}
	return t
}

// begin notes a tool at work and gives what ends that.
func (f *Flow) begin(r toolcrib.Review, labels policy.Labels) (end func()) {
	at := flowCall{keyOf(r.Call.Caller), r.Call.ID}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running == nil {
		f.running = map[flowCall]*flowRun{}
	}
	run := f.running[at]
	if run == nil {
		run = &flowRun{tool: r.Spec.Box + "/" + r.Spec.Native, parent: r.Call.Parent}
		f.running[at] = run
	}
	run.labels |= labels
	run.times++
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if run.times--; run.times == 0 {
			delete(f.running, at)
		}
	}
}

// Brought is what the call was that first brought a label into a conversation.
// The zero value is a call that is no longer remembered.
type Brought struct {
	Call, Tool string
	Time       time.Time
}

// String names the call. It has no time and counts nothing: an answer to a
// question is bound to its words.
func (b Brought) String() string {
	if b.Tool == "" {
		return "an earlier call that is no longer remembered"
	}
	return b.Tool + " (call " + strconv.QuoteToASCII(b.Call) + ")"
}

// Session tells which labels the conversation of a caller has, and who brought
// them.
func (f *Flow) Session(caller toolcrib.Caller) (had policy.Labels, private, untrusted Brought) {
	f.mu.Lock()
	defer f.mu.Unlock()
	had, by := f.memory.labelsOf(keyOf(caller))
	return had, by.private, by.untrusted
}

// Carry adds labels that a conversation has from elsewhere: from an earlier process
// that it began in, or from a note that it was given to read. Tool says who brought
// them there.
func (f *Flow) Carry(caller toolcrib.Caller, labels policy.Labels, tool string) {
	if labels &= policy.LabelsLasting; labels == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.memory.most = f.Sessions
	f.memory.addLabels(keyOf(caller), labels, "earlier", tool, f.now())
}
