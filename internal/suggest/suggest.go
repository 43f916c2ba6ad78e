package suggest

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/lineage"
)

// maxTries is how many narrower rules are tried for a call in place of one that
// cannot be proposed.
const maxTries = 4

// asked is one call, however often it was made.
type asked struct {
	Call
	count int

	review toolcrib.Review
	text   string // as a person reads it
	key    string // what calls that no rule fits are counted by
	ways   []way  // the rules that may spare it, those to prefer first
	why    string // no rule does, because
	barred bool   // since one that does would allow what was declined
}

// way is rules that together spare a call.
type way []string

func (w way) key() string { return strings.Join(w, "\n") }

// search is the work on one report.
type search struct {
	Guards
	min, most int
	report    Report
	approved  []*asked
	declined  []*asked
	accepted  []string
	rejected  map[string]string // and why
}

// Of proposes rules. Calls may come in any order.
func Of(ctx context.Context, g Guards, calls []Call, opt Options) (Report, error) {
	s := &search{Guards: g, min: cmp.Or(opt.Min, 2), most: cmp.Or(opt.Most, 30), rejected: map[string]string{}}
	s.report.Rules, s.report.Others = []Rule{}, []Other{}
	if err := s.Try(nil); err != nil {
		return s.report, err
	}
	s.sort(ctx, calls)
	s.findWays()
	for range maxTries {
		if err := s.verify(ctx); err != nil {
			return s.report, err
		}
		s.dropSeldom()
		changed, err := s.accept(ctx)
		if err != nil {
			return s.report, err
		}
		if !changed {
			break
		}
	}
	if err := s.count(ctx); err != nil {
		return s.report, err
	}
	return s.report, s.Try(nil)
}

// sort counts what was asked, and keeps each call once, with what the guards say to it
// now.
func (s *search) sort(ctx context.Context, calls []Call) {
	seen := map[string]*asked{}
	for _, c := range calls {
		s.report.Asked++
		switch c.Answer {
		case Approved:
			s.report.Approved++
		case Declined:
			s.report.Declined++
		case Unanswered:
			s.report.Unanswered++
			continue
		default:
			continue
		}
		if c.Hidden && c.Answer == Approved {
			s.report.Hidden++
			continue
		}
		if lineage.Delegate(c.Caller.Agent) && c.Answer == Approved {
			continue // there is no agent of that name to write a rule for
		}
		key := strings.Join([]string{string(c.Answer), c.Tool, c.Caller.Dialect, c.Caller.Agent, string(c.Input)}, "\x00")
		if one := seen[key]; one != nil {
			one.count++
			continue
		}
		seen[key] = &asked{Call: c, count: 1}
		if c.Answer == Declined {
			s.declined = append(s.declined, seen[key])
		} else {
			s.approved = append(s.approved, seen[key])
		}
	}
	s.declined = slices.DeleteFunc(s.declined, func(one *asked) bool {
		j, err := s.Judge(ctx, one.Call.Call)
		if err == nil {
			one.review = j.Review
		}
		one.text, _ = s.describe(one)
		return err == nil && j.Decision == toolcrib.Allow && !one.Hidden // somebody allowed it since
	})
	s.approved = slices.DeleteFunc(s.approved, func(one *asked) bool {
		j, err := s.Judge(ctx, one.Call.Call)
		switch {
		case err != nil || j.Decision == toolcrib.Deny:
			s.report.Gone += one.count
			return true
		case j.Decision == toolcrib.Allow:
			s.report.Allowed += one.count
			return true
		}
		one.review = j.Review
		one.text, one.key = s.describe(one)
		one.why = becauseOf(j.Verdicts)
		return false
	})
}

// verify keeps of each call's ways those that the guards confirm, the first of them
// without what it can do without.
func (s *search) verify(ctx context.Context) error {
	by := map[string][]*asked{}
	var order []way
	again := func(one *asked) {
		for len(one.ways) > 0 {
			w := one.ways[0]
			if i := slices.IndexFunc(w, func(r string) bool { return s.rejected[r] != "" }); i >= 0 {
				one.why, one.barred, one.ways = s.rejected[w[i]], true, one.ways[1:]
				continue
			}
			if by[w.key()] == nil {
				order = append(order, w)
			}
			by[w.key()] = append(by[w.key()], one)
			return
		}
	}
	for _, one := range s.approved {
		again(one)
	}
	for i := 0; i < len(order); i++ { // it grows while ways fail
		w := order[i]
		bad := s.Try(w) // it is no rule, or one that gives too much
		all := by[w.key()]
		by[w.key()] = nil
		for _, one := range all {
			if bad != nil {
				one.why, one.ways = "no rule can be written for it", one.ways[1:]
				again(one)
				continue
			}
			j, err := s.Judge(ctx, one.Call.Call)
			if err == nil && j.Decision == toolcrib.Allow {
				if len(w) > 1 {
					if err := s.shorten(ctx, one); err != nil {
						return err
					}
					if err := s.Try(w); err != nil {
						return err
					}
				}
				continue
			}
			if err == nil && j.Decision == toolcrib.Ask {
				one.why = becauseOf(j.Verdicts)
			}
			one.ways = one.ways[1:]
			again(one)
		}
	}
	return s.Try(nil)
}

// shorten leaves out what a call does not need.
func (s *search) shorten(ctx context.Context, one *asked) error {
	w := slices.Clone(one.ways[0])
	for i := 0; i < len(w) && len(w) > 1; {
		less := slices.Delete(slices.Clone(w), i, i+1)
		if err := s.Try(less); err != nil {
			return err
		}
		if j, err := s.Judge(ctx, one.Call.Call); err == nil && j.Decision == toolcrib.Allow {
			w = less
			continue
		}
		i++
	}
	one.ways = slices.Insert(one.ways[1:], 0, w)
	return nil
}

// uses counts the calls that each rule is needed for.
func (s *search) uses() map[string]int {
	out := map[string]int{}
	for _, one := range s.approved {
		if len(one.ways) > 0 {
			for _, r := range one.ways[0] {
				out[r] += one.count
			}
		}
	}
	return out
}

// dropSeldom leaves out the calls of rules that spare too little.
func (s *search) dropSeldom() {
	uses := s.uses()
	for _, one := range s.approved {
		if len(one.ways) > 0 && slices.ContainsFunc(one.ways[0], func(r string) bool { return uses[r] < s.min }) {
			if one.ways = nil; !one.barred {
				one.why = ""
			}
		}
	}
}

// accept takes the rules in, those that spare most first, and each only if no call
// that was declined is allowed then. changed: some were not taken, and their calls may
// have other ways.
func (s *search) accept(ctx context.Context) (changed bool, err error) {
	uses := s.uses()
	var rules []string
	for r := range uses {
		if s.rejected[r] == "" {
			rules = append(rules, r)
		}
	}
	slices.SortFunc(rules, func(a, b string) int { return cmp.Or(cmp.Compare(uses[b], uses[a]), strings.Compare(a, b)) })
	s.accepted = nil
	for _, r := range rules[:min(len(rules), s.most)] {
		bad, err := s.allowsDeclined(ctx, append(slices.Clone(s.accepted), r), r)
		if err != nil {
			return false, err
		}
		if bad != nil {
			s.rejected[r], changed = "a rule for it ("+r+") would have allowed "+bad.text+", which was declined", true
			continue
		}
		s.accepted = append(s.accepted, r)
	}
	return changed, s.Try(nil)
}

// allowsDeclined finds a declined call that the rules would allow, or may.
func (s *search) allowsDeclined(ctx context.Context, rules []string, newest string) (*asked, error) {
	if err := s.Try(rules); err != nil {
		return nil, err
	}
	for _, one := range s.declined {
		if one.Hidden && s.mayMean(newest, one) {
			return one, nil
		}
		if j, err := s.Judge(ctx, one.Call.Call); err == nil && j.Decision == toolcrib.Allow {
			return one, nil
		}
	}
	return nil, nil
}

// count tells what the rules that are taken spare.
func (s *search) count(ctx context.Context) error {
	if err := s.Try(s.accepted); err != nil {
		return err
	}
	rules := map[string]*Rule{}
	for _, r := range s.accepted {
		rules[r] = &Rule{Rule: r, Examples: []string{}}
	}
	others := map[string]*Other{}
	for _, one := range s.approved {
		if j, err := s.Judge(ctx, one.Call.Call); err == nil && j.Decision == toolcrib.Allow {
			s.report.Spared += one.count
			if len(one.ways) > 0 {
				for _, r := range one.ways[0] {
					if rule := rules[r]; rule != nil {
						rule.add(one, len(one.ways[0]) > 1)
					}
				}
			}
			continue
		}
		if one.why == "" {
			s.report.Seldom += one.count
			continue
		}
		key := one.key + "\x00" + one.why
		if others[key] == nil {
			others[key] = &Other{What: one.key, Why: one.why}
		}
		others[key].Calls += one.count
	}
	for _, r := range s.accepted {
		if rules[r].Spared+rules[r].Together >= s.min {
			s.report.Rules = append(s.report.Rules, *rules[r])
		}
	}
	slices.SortStableFunc(s.report.Rules, func(a, b Rule) int {
		return cmp.Or(cmp.Compare(b.Spared+b.Together, a.Spared+a.Together), strings.Compare(a.Rule, b.Rule))
	})
	for _, o := range others {
		s.report.Others = append(s.report.Others, *o)
	}
	slices.SortFunc(s.report.Others, func(a, b Other) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.What, b.What), strings.Compare(a.Why, b.Why))
	})
	return nil
}

const maxExamples = 3

func (r *Rule) add(one *asked, together bool) {
	if together {
		r.Together += one.count
	} else {
		r.Spared += one.count
	}
	if len(r.Examples) < maxExamples && !slices.Contains(r.Examples, one.text) {
		r.Examples = append(r.Examples, one.text)
	}
}
