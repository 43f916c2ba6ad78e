package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// LabelOptions is what a [LabelTable] is made of.
type LabelOptions struct {
	// Own are the boxes that are part of the program. Only theirs are the groups
	// and effects that labels are taken off by; every other tool has all labels
	// until the person says otherwise, whatever it says about itself.
	Own []string
	// Persons tells of further boxes that a person of this machine wrote or installed,
	// and of whose tools that person says what they do: effects that are declared count
	// as those of Own. Nil: there are none.
	Persons func(box string) bool
	// Offline: the programs that tools start cannot reach the network, since no
	// host is granted and the sandbox holds them to that.
	Offline bool
	// Effects is what one call can do as far as a guard understood its input,
	// such as a command line that only reads. It is asked about tools of Own that
	// run programs. Nil, or an answer of zero: what the tool declares.
	Effects func(ctx context.Context, r toolcrib.Review) toolcrib.Effects
	// Set replaces the labels of tools and Add adds to whatever they have. A key
	// is a box, a tool, or a [Selector]; a value is a list for [ParseLabels].
	Set, Add map[string][]string
}

// LabelTable says which labels a tool has. It is never changed after it was
// made. A nil table gives every tool every label.
type LabelTable struct {
	opt      LabelOptions
	set, add []labelEntry
}

type labelEntry struct {
	word     string   // a box or a tool; empty: pick
	pick     Selector // anything else
	tool     bool     // it names single tools: it goes before what names boxes
	labels   Labels
	original string
}

// NewLabelTable reads a table; the error names every bad entry.
func NewLabelTable(opt LabelOptions) (*LabelTable, error) {
	t := &LabelTable{opt: opt}
	t.opt.Own = slices.Clone(opt.Own)
	var errs []error
	for _, part := range []struct {
		from map[string][]string
		into *[]labelEntry
	}{{opt.Set, &t.set}, {opt.Add, &t.add}} {
		for _, key := range slices.Sorted(maps.Keys(part.from)) {
			e, err := newLabelEntry(key, part.from[key])
			if err != nil {
				errs = append(errs, fmt.Errorf("labels of %q: %w", clip(key), err))
				continue
			}
			*part.into = append(*part.into, e)
		}
	}
	t.opt.Set, t.opt.Add = nil, nil
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return t, nil
}

func newLabelEntry(key string, words []string) (labelEntry, error) {
	e := labelEntry{original: strings.TrimSpace(key)}
	var err error
	if e.labels, err = ParseLabels(words); err != nil {
		return e, err
	}
	if e.original != "" && nameChars(e.original, false) && !strings.HasPrefix(e.original, "mcp__") {
		e.word = e.original
		e.pick, err = ParseSelector(e.word)
		return e, err
	}
	if e.pick, err = ParseSelector(key); err != nil {
		return e, err
	}
	for i := range e.pick.parts {
		p := &e.pick.parts[i]
		e.tool = e.tool || p.kind == selectTool && !strings.ContainsAny(p.name, "*?")
	}
	return e, nil
}

// means reports whether the entry is about this tool, and whether it names it
// as a tool rather than by its box. Certain: it must be, since labels are taken
// away by it; then a bare name means a box, or a tool of our own boxes.
func (e *labelEntry) means(spec *toolcrib.Entry, own []string, certain bool) (is, tool bool) {
	picked := certain && e.pick.picksForCertain(spec, own) || !certain && e.pick.Picks(spec)
	switch {
	case e.word == "":
		return picked, e.tool
	case picked:
		return true, true
	}
	return e.word == spec.Box, false
}

// skillBox is the box of skills. Who wrote a skill is known once it has been read.
const skillBox = "skill"

// skillLabels are the labels of a tool of skills, for a skill of which nothing is known. To read
// one is to read instructions, and not what is the person's.
func skillLabels(effects toolcrib.Effects) Labels {
	l := LabelUntrusted
	if effects == 0 || effects.All()&toolcrib.Network != 0 {
		l |= LabelPublic
	}
	return l
}

// OfResult gives the labels of a call that has answered. They are those of the call, except
// that a skill which the person wrote or installed is not content from outside: the box of
// skills, which reads and judges it, says so in its value.
func (t *LabelTable) OfResult(ctx context.Context, r toolcrib.Review, result *toolcrib.Result) Labels {
	labels := t.Of(ctx, r)
	if t.judgesItself(&r.Spec) && !trusted(result) {
		labels |= LabelUntrusted
	}
	return labels
}

// judgesItself reports whether a result of the tool says whether it is from outside.
func (t *LabelTable) judgesItself(spec *toolcrib.Entry) bool {
	if t == nil || spec.Box != skillBox || !slices.Contains(t.opt.Own, skillBox) || spec.Effects == 0 || spec.Effects.All()&toolcrib.Network != 0 {
		return false
	}
	_, said := t.chosen(spec)
	return !said
}

// trusted reads what the box of skills says of a text. A result that does not say it is not.
func trusted(result *toolcrib.Result) bool {
	var value struct {
		Trusted bool `json:"trusted"`
		Meta    struct {
			Trusted bool `json:"toolcrib/trusted"`
		} `json:"_meta"`
	}
	return json.Unmarshal(result.Value, &value) == nil && (value.Trusted || value.Meta.Trusted)
}

// Of gives the labels of one call. Labels that only its result can tell are not among them;
// see [LabelTable.OfResult].
func (t *LabelTable) Of(ctx context.Context, r toolcrib.Review) Labels {
	if t == nil {
		return LabelAll
	}
	effects := r.Spec.Effects
	if t.opt.Effects != nil && effects != 0 && effects&toolcrib.Runs != 0 && slices.Contains(t.opt.Own, r.Spec.Box) {
		if understood := t.opt.Effects(ctx, r); understood != 0 {
			if effects = effects.All() & understood.All(); effects == 0 {
				effects = r.Spec.Effects // they contradict each other
			}
		}
	}
	labels := t.of(&r.Spec, effects)
	if t.judgesItself(&r.Spec) {
		labels &^= LabelUntrusted &^ t.added(&r.Spec)
	}
	return labels
}

// OfTool gives the labels of a tool whatever it is called with, for lists.
func (t *LabelTable) OfTool(spec *toolcrib.Entry) Labels {
	if t == nil {
		return LabelAll
	}
	return t.of(spec, spec.Effects)
}

func (t *LabelTable) of(spec *toolcrib.Entry, effects toolcrib.Effects) Labels {
	labels, said := t.chosen(spec)
	if !said {
		labels = LabelForeign
		if claimsPrivate(spec) {
			labels = LabelAll
		}
		if spec.Effects != 0 && t.opt.Persons != nil && t.opt.Persons(spec.Box) {
			labels = t.byEffects(strings.TrimPrefix(spec.Group, "mcp"), effects) // that it is started as a server says nothing
		}
		if slices.Contains(t.opt.Own, spec.Box) {
			labels = t.byEffects(spec.Group, effects)
			if spec.Box == "hub" && spec.Native == "mcp_call" {
				labels = 0 // it calls another tool, and that call has labels of its own
			}
			if spec.Box == "session_notes" {
				labels = 0 // what the conversation wrote itself; their store brings back what it had read then
			}
			if spec.Box == skillBox {
				labels = skillLabels(effects)
			}
			if spec.Box == "artifact" { // kept parts of the results of any tool
				labels |= LabelsLasting
			}
		}
	}
	return labels | t.added(spec)
}

// added is what the person or a project adds to whatever a tool has.
func (t *LabelTable) added(spec *toolcrib.Entry) (labels Labels) {
	for i := range t.add {
		if is, _ := t.add[i].means(spec, t.opt.Own, false); is {
			labels |= t.add[i].labels
		}
	}
	return labels
}

// chosen is what the person says: an entry for the tool goes before one for
// its box or group, and of several equals all labels count.
func (t *LabelTable) chosen(spec *toolcrib.Entry) (labels Labels, said bool) {
	var byTool bool
	for i := range t.set {
		is, tool := t.set[i].means(spec, t.opt.Own, true)
		switch {
		case !is || byTool && !tool:
		case tool && !byTool:
			labels, byTool, said = t.set[i].labels, true, true
		default:
			labels, said = labels|t.set[i].labels, true
		}
	}
	return labels, said
}

// byEffects is the table for our own tools.
func (t *LabelTable) byEffects(group string, declared toolcrib.Effects) Labels {
	if declared == 0 {
		return LabelAll
	}
	e := declared.All()
	if group == "exec" && t.opt.Offline {
		e &^= toolcrib.Network
	}
	var l Labels
	if e&(toolcrib.Reads|toolcrib.Runs|toolcrib.UsesSecrets) != 0 && (group != "clock" || e != toolcrib.Reads) {
		l |= LabelPrivate
	}
	if e&toolcrib.Network != 0 {
		l |= LabelUntrusted | LabelPublic
	}
	switch group { // a group only ever adds
	case skillBox:
		l |= LabelUntrusted // what a skill says is whoever wrote it
	case "exec":
		// What a command in the background has printed may be from anywhere.
		if e&toolcrib.Runs == 0 && e&toolcrib.Reads != 0 && !t.opt.Offline {
			l |= LabelUntrusted
		}
	case "web":
		l |= LabelUntrusted | LabelPublic
	case "mcp", "api", "peer", "bus":
		l |= LabelForeign
	case "memory", "notes", "mail":
		l |= LabelPrivate
	}
	return l
}

// claimsPrivate: a tool says itself that it has to do with what is somebody's
// own. What it says against itself is believed.
func claimsPrivate(spec *toolcrib.Entry) bool {
	return slices.Contains([]string{"memory", "notes", "mail"}, spec.Group) || spec.Effects != 0 && spec.Effects&toolcrib.UsesSecrets != 0
}
