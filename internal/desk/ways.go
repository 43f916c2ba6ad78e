package desk

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pathglob"
	"github.com/toolcrib/toolcrib/internal/text"
	"github.com/toolcrib/toolcrib/internal/toolname"
)

// By says how much a remembered answer is about. The zero value is the least: the
// tool with exactly the arguments that were shown.
type By string

// The ways to remember an answer, from narrow to wide.
const (
	ByArguments By = ""
	ByRule      By = "rule"      // whatever the offered rules mean
	ByDirectory By = "directory" // changes to files in the directory, by any tool for files
	ByTool      By = "tool"      // this tool with any arguments
	ByServer    By = "server"    // every tool of its server
)

// Ways lists the ways wider than the exact arguments in which the answer to a question
// can be remembered.
func (q *Question) Ways() []By {
	var list []By
	if len(q.Rules) > 0 {
		list = append(list, ByRule)
	}
	for _, by := range q.Wide {
		if by != ByDirectory || q.Dir != "" {
			list = append(list, by)
		}
	}
	return list
}

// Name is what its tool is called, in a form that can be typed into a rule.
func (q *Question) Name() string { return toolname.Typed(q.Tool, q.Box, q.Native, q.Box != projectBox) }

// Name is Question.Name.
func (g *Grant) Name() string { return toolname.Typed(g.Tool, g.Box, g.Native, g.Box != projectBox) }

// projectBox has the tools that a project brings: no allow means them by a bare name.
const projectBox = "project"

// Means names what a way is about, as it stands in an offer.
func (q *Question) Means(by By) string {
	switch by {
	case ByArguments:
		return "it"
	case ByRule:
		return q.rules()
	case ByDirectory:
		return "changes to files in " + text.ShowExact(q.Dir)
	case ByTool:
		return "every call of " + text.ShowExact(q.Name())
	case ByServer:
		if q.Effects.All() == toolcrib.Effects(0).All() {
			return "every tool of " + text.ShowExact(q.Box) + ", whatever it does: what this one may do is not known"
		}
		return "every tool of " + text.ShowExact(q.Box) + " that can do no more than this one"
	}
	return ""
}

// Remembers says what the answers that last remember.
func (q *Question) Remembers(by By) string {
	switch by {
	case ByArguments:
		return "this tool with exactly these arguments" + q.whileFiles()
	case ByRule:
		return "whatever " + q.rules() + " means" + q.whileFiles()
	}
	return q.Means(by)
}

// About says what a grant is about, for people.
func (g *Grant) About() string {
	switch g.by() {
	case ByRule:
		return strings.Join(g.Rules, ", ")
	case ByDirectory:
		return "changes to files in " + g.Dir
	case ByTool:
		return g.Name() + " with any arguments"
	case ByServer:
		return "every tool of " + g.Box
	}
	return g.Name() + " " + strings.Join(strings.Fields(string(g.Input)), " ")
}

// by is the way in which the answer was remembered; old grants do not name it.
func (g *Grant) by() By {
	switch {
	case g.Way != "":
		return g.Way
	case g.Arguments == "":
		return ByRule
	}
	return ByArguments
}

// wide reports whether a way is about more than one tool.
func (b By) wide() bool { return b == ByDirectory || b == ByServer }

// about reports whether a question is one of those that a grant is about.
func (g *Grant) about(q *Question) bool {
	if !g.by().wide() && (g.Tool != q.Tool || g.Native != q.Native || g.Definition == "" || g.Definition != q.Definition) {
		return false
	}
	switch g.by() {
	case ByArguments:
		return g.Arguments != "" && g.Arguments == q.Arguments && subset(askers(q.Reasons, true), g.Asked)
	case ByRule:
		// One grant must cover the whole: two that were given one by one may
		// together do what nobody was asked about.
		return len(q.Rules) > 0 && subset(q.Rules, g.Rules) && subset(askers(q.Reasons, false), g.Asked)
	case ByDirectory, ByTool, ByServer:
		// The wiring says of each question which ways there are: a command is
		// covered by none of these, whatever a grant says.
		return slices.Contains(q.Wide, g.by()) && subset(askers(q.Reasons, false), g.Asked) &&
			(g.by() == ByDirectory && inside(g.Dir, q.Dir) || g.by() != ByDirectory && g.SetUp == q.SetUp)
	}
	return false
}

// inside reports whether a directory is another one or below it.
func inside(outer, dir string) bool {
	if outer == "" || dir == "" {
		return false
	}
	return filepath.IsAbs(outer) && filepath.IsAbs(dir) && pathglob.Inside(filepath.Clean(dir), filepath.Clean(outer))
}

// checkWay makes sure that an answer can be remembered in a way.
func (q *Question) checkWay(by By) error {
	if by == ByArguments || slices.Contains(q.Ways(), by) {
		return nil
	}
	switch by {
	case ByRule:
		return fmt.Errorf("%w: no guard offers a rule for it", ErrBadReply)
	case ByDirectory, ByTool, ByServer:
		return fmt.Errorf("%w: it cannot be remembered by %s%s", ErrBadReply, by, q.otherWays())
	}
	return fmt.Errorf("%w: %q is no way to remember it", ErrBadReply, string(by))
}

func (q *Question) otherWays() string {
	if len(q.Ways()) == 0 {
		return ", only with exactly these arguments"
	}
	var list []string
	for _, by := range q.Ways() {
		list = append(list, string(by))
	}
	return "; by " + strings.Join(list, " or ") + " it can"
}
