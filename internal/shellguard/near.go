package shellguard

import (
	"path"
	"slices"
	"strings"
)

// nearest names a rule that is about a program and does not allow it, and the
// argument that is to blame; empty if there is none.
func nearest(rules []Rule, p *Program) string {
	best, words := "", -1
	for _, r := range rules {
		why, near := r.refusal(p)
		if why == "" || !near || len(r.Words) <= words {
			continue
		}
		words = len(r.Words)
		best = "run_command(" + clip(r.String()) + ") would allow " + clip(p.String()) + ", but for " + r.blame(p, why)
	}
	return best
}

// maxBlame bounds how many arguments are tried.
const maxBlame = 40

// blame is the argument without which the rule would allow the program, with its
// value where that goes with it; what the tables say if there is no such one.
func (r Rule) blame(p *Program, why string) string {
	if len(p.Args) <= maxBlame && !slices.ContainsFunc(p.Args, func(a Arg) bool { return !a.Literal && !a.Glob }) {
		for n := 1; n <= 2; n++ {
			for i := 0; i+n <= len(p.Args); i++ {
				if n == 2 && !strings.HasPrefix(p.Args[i].Text, "-") {
					continue
				}
				if r.Match(p.with(slices.Delete(slices.Clone(p.Args), i, i+n), p.Dirs)) {
					var out []string
					for _, a := range p.Args[i : i+n] {
						out = append(out, Quote(a.Text))
					}
					return strings.Join(out, " ")
				}
			}
		}
	}
	// Several are: the first behind the words of the rule.
	for i, a := range p.Args {
		if i >= len(r.Words)-1 || strings.HasPrefix(a.Text, "-") && !slices.Contains(r.Words, a.Text) {
			return Quote(a.Text) + " (" + why + ")"
		}
	}
	return why + " (" + path.Base(p.Name) + ")"
}
