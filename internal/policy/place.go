package policy

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// A rule that denies paths to the tools for files would be worth little if a
// command could read them. So it holds command lines as well: what a line names
// is held against it, and what a program finds by itself is covered by the
// sandbox; see Policy.narrowed.

// fileSpec is a tool for files as rules see it.
func fileSpec(native string) *toolcrib.Entry {
	s := &toolcrib.Entry{Spec: toolcrib.Spec{Name: native, Group: "fs", Effects: toolcrib.Reads}, Native: native, Box: "files"}
	switch native {
	case "list_files", "find_files", "search_files":
		s.Group = "search"
	case "write_file", "edit_file":
		s.Effects |= toolcrib.Writes
	case "delete_file":
		s.Effects |= toolcrib.Writes | toolcrib.Destroys
	}
	return s
}

// holdsPlaces says whether the rule keeps files from being read, and whether
// from being written, by the tools for files that it names. A rule with a
// condition is about calls, not about places.
func (p *permission) holdsPlaces(opt *RuleOptions) (reads, writes bool) {
	if p.kind != specPath || p.when != nil || p.gives() {
		return false, false
	}
	about := func(names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return p.namesSpec(fileSpec(n), opt) })
	}
	return about("read_file", "search_files"), about("write_file", "edit_file", "delete_file")
}

// Taken is what rules take away from a grant; see [toolcrib.Grant] for each.
type Taken struct{ Denied, Fixed, Unmade []string }

// From is what is left of a grant.
func (t Taken) From(g toolcrib.Grant) toolcrib.Grant {
	g.Denied, g.Fixed, g.Unmade = slices.Concat(g.Denied, t.Denied), slices.Concat(g.Fixed, t.Fixed), slices.Concat(g.Unmade, t.Unmade)
	return g
}

func (t Taken) nothing() bool { return len(t.Denied)+len(t.Fixed)+len(t.Unmade) == 0 }

// placeRule is a rule about places, and what it takes from a call: found out once,
// since every call is held against all of them.
type placeRule struct {
	*permission
	reads, writes bool  // it keeps files from being read, from being written
	taken         Taken // from a call that is not one of a tool for files
	loose         []string
}

// placeRules are those of a list that are about places.
func placeRules(list []*permission, opt *RuleOptions) []placeRule {
	var out []placeRule
	for _, p := range list {
		reads, writes := p.holdsPlaces(opt)
		if !reads && !writes {
			continue
		}
		rule := placeRule{permission: p, reads: reads, writes: writes, loose: texts(p.path.loose)}
		if writes && p.namesSpec(fileSpec("write_file"), opt) {
			// As they were written: what is to be kept free has one name.
			rule.taken.Unmade = texts(p.path.exact)
		}
		if reads {
			rule.taken.Denied = rule.loose
		} else {
			rule.taken.Fixed = rule.loose
		}
		out = append(out, rule)
	}
	return out
}

// allTaken is what all of the rules take from a call that is not one of a tool for
// files.
func allTaken(rules []placeRule) (t Taken) {
	for i := range rules {
		t = t.and(&rules[i].taken)
	}
	return t
}

func (t Taken) and(more *Taken) Taken {
	t.Denied, t.Fixed, t.Unmade = append(t.Denied, more.Denied...), append(t.Fixed, more.Fixed...), append(t.Unmade, more.Unmade...)
	return t
}

// outOfReach lists the places that rules deny to a call: to a tool for files
// what they deny to that tool, to all others what they deny to any.
func (r *Rules) outOfReach(review *toolcrib.Review) (t Taken) {
	if r == nil {
		return t
	}
	for _, l := range r.layers {
		switch {
		case !l.applies(review.Call.Caller):
		case review.Spec.Box != "files":
			t = t.and(&l.denied)
		default:
			for i := range l.denyPlaces {
				if p := &l.denyPlaces[i]; p.namesSpec(&review.Spec, &r.opt) {
					t.Denied = append(t.Denied, p.loose...)
				}
			}
		}
	}
	return t
}

// OutOfReach lists the places that rules deny to everybody, for a program that
// works for all callers: what it must not see, change or make.
func (p *Policy) OutOfReach() Taken {
	if p == nil {
		return Taken{}
	}
	return p.Rules.outOfReach(&toolcrib.Review{})
}

// Kept lists the places that a command of this call must not read unasked: those that
// rules deny to its caller, and those that they ask about.
func (p *Policy) Kept(call toolcrib.Call) []string {
	r := toolcrib.Review{Call: call, Spec: toolcrib.Entry{Box: "shell", Native: "run_command"}}
	return slices.Concat(p.Rules.outOfReach(&r).Denied, p.Rules.askedAbout(&r, p.Whole).Denied)
}

func texts(list []pathglob.Glob) []string {
	var out []string
	for _, g := range list {
		out = append(out, g.String())
	}
	return out
}

// takesPlace finds the first rule about places that means a path of the line.
// Unsure: a path that the line may write counts as well, or that it may name.
//
// What is only asked about when it is written waits where lines run on layers: what
// they write is judged then, and asked about once.
func takesPlace(list []placeRule, s *subject, unsure bool) *permission {
	later := unsure && s.opt.Shell.OnLayers(&s.review.Spec)
	for _, p := range list {
		if later && !p.reads {
			continue
		}
		for _, o := range s.operands() {
			if o.Anywhere && !p.writes {
				continue
			}
			if (unsure || !o.Guess && (p.reads || o.Write)) && (p.reads || o.Write || o.MayWrite) && p.path.mayMatchOperand(&o) {
				return p.permission
			}
		}
	}
	return nil
}

// narrowed puts into a verdict what rules leave of the grant: a program that
// finds a denied place by itself must not get there either, and a search leaves
// it out. A place that rules ask about is out of its reach as long as nobody was
// asked.
func (p *Policy) narrowed(r *toolcrib.Review, v *toolcrib.Verdict) *toolcrib.Verdict {
	if v != nil && v.Decision == toolcrib.Deny {
		return v
	}
	denied, asked := p.Rules.outOfReach(r), p.Rules.askedAbout(r, p.Whole)
	if p.Shell.OnLayers(&r.Spec) { // what it writes there is asked about when it has ended
		asked.Fixed, asked.Unmade = nil, slices.Concat(asked.Fixed, asked.Unmade)
	}
	if denied.nothing() && asked.nothing() {
		return v
	}
	if v == nil {
		v = &toolcrib.Verdict{Decision: toolcrib.Allow, Note: true, Guard: "rules", Rule: "deny",
			Reason: "out of its reach by rules that deny paths: " + strings.Join(shortened(denied.Denied, denied.Fixed), ", ")}
		if denied.nothing() {
			v.Rule, v.Reason = "ask", "out of its reach unless a person is asked, by rules about paths: "+strings.Join(shortened(asked.Denied, asked.Fixed, asked.Unmade), ", ")
		}
	}
	if !denied.nothing() {
		v.Grant = p.without(denied)
	}
	if !asked.nothing() {
		v.Unasked = p.without(asked)
	}
	return v
}

// without is all that there is but some places.
func (p *Policy) without(t Taken) *toolcrib.Grant {
	var left toolcrib.Grant
	if p.Whole != nil {
		left = *p.Whole
	}
	left = t.From(left)
	return &left
}

// askedAbout lists the places that rules ask about, for a call that is not one of
// a tool for files: those are asked about by their paths. A rule about a granted
// directory as a whole means the tools for files: programs could do nothing. What a
// program makes is not undone for such a rule: a person may have allowed a tool to
// make it meanwhile.
func (r *Rules) askedAbout(review *toolcrib.Review, whole *toolcrib.Grant) Taken {
	if r == nil || review.Spec.Box == "files" || whole == nil {
		return Taken{}
	}
	var t Taken
	for _, l := range r.layers {
		if l.applies(review.Call.Caller) {
			t = t.and(&l.asked)
		}
	}
	all := func(pattern string) bool {
		around := pathglob.Elements(strings.TrimRight(pattern, "*"))
		return slices.ContainsFunc(whole.Dirs, func(d files.Dir) bool {
			elems := pathglob.Elements(filepath.ToSlash(d.Path))
			return len(around) <= len(elems) && slices.EqualFunc(around, elems[:len(around)], func(a, b string) bool { return a == pathglob.Fold(b) })
		})
	}
	return Taken{Denied: slices.DeleteFunc(t.Denied, all), Fixed: slices.DeleteFunc(t.Fixed, all)}
}

// Places lists some patterns of a grant for people.
func Places(patterns []string) string { return strings.Join(shortened(patterns), ", ") }

// shortened lists some patterns for people.
func shortened(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) > 5 {
		all = append(all[:5], "…")
	}
	for i := range all {
		all[i] = path.Clean(strings.TrimSuffix(all[i], "/**"))
	}
	return all
}
