package shellguard

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// silentLog are options of git log, and of commands like it, that certainly make it print
// nothing of what files hold. There are many that do, some of which only imply a patch
// (--cc, --binary, --check), or tell of a search in files (-S), so that every other one
// counts as doing so.
const silentLog = "oneline decorate no-decorate graph no-graph all branches tags remotes glob exclude reverse date format pretty abbrev-commit no-abbrev-commit max-count n skip since after until before author committer grep all-match invert-grep regexp-ignore-case i basic-regexp extended-regexp E fixed-strings F perl-regexp P merges no-merges min-parents max-parents first-parent follow full-diff full-history simplify-by-decoration simplify-merges topo-order date-order author-date-order no-walk left-right cherry-pick cherry-mark cherry left-only right-only boundary walk-reflogs g reflog grep-reflog source clear-decorations decorate-refs decorate-refs-exclude mailmap use-mailmap no-mailmap notes no-notes expand-tabs no-expand-tabs parents children relative-date dense sparse ancestry-path count not " +
	instead + " color no-color abbrev no-abbrev no-renames find-renames diff-filter relative no-relative no-ext-diff no-textconv ignore-submodules z " +
	"cumulative cached staged r no-commit-id root"

// instead are options with which git diff and its like print something else than a patch.
const instead = "stat compact-summary numstat shortstat dirstat summary name-only name-status raw no-patch s quiet"

// showsFiles: it prints what files hold, now or in some revision.
func (u *gitUse) showsFiles() bool {
	loud := slices.ContainsFunc(u.opts, func(o option) bool { return !isNumber(o.name) && !isOneOf(o.name, silentLog) })
	switch u.sub {
	case "grep":
		return true
	case "cat-file":
		return !u.has("e", "t", "s")
	case "status":
		return u.has("v", "verbose")
	case "show": // of a file in the repository it prints all, whatever else it is told
		if slices.ContainsFunc(u.operands, func(a Arg) bool { return !commitName(a.Text) }) {
			return true
		}
		fallthrough
	case "diff", "diff-files", "diff-index", "diff-tree", "whatchanged", "range-diff", "stash show":
		return loud || !slices.ContainsFunc(u.opts, func(o option) bool { return isOneOf(o.name, instead) })
	case "log", "reflog", "reflog show", "stash list":
		return loud
	case "branch", "tag", "for-each-ref": // what a reference means may be a file
		return slices.ContainsFunc(u.opts, func(o option) bool { return strings.Contains(o.value, "raw") })
	}
	return false
}

// A plain name means a commit, and so does what has ancestors. Hexadecimal digits may be
// those of a file.
var (
	commitLike = pattern.Of(`^[A-Za-z0-9_./@-]+(@\{[0-9]+\})?([~^][0-9]*)*$`)
	hexDigits  = pattern.Of(`^[0-9a-fA-F]+$`)
)

// commitName: the word cannot mean a file in a repository.
func commitName(word string) bool {
	return commitLike.MatchString(word) && !hexDigits.MatchString(word)
}
