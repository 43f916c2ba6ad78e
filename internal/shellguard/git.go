package shellguard

import (
	"slices"
	"strings"
)

// gitForm finds the form of a git command. Options before the subcommand
// choose the repository, its settings and the programs git starts, so only the
// harmless ones are taken: -C (whose directory is reported) and --no-pager.
func gitForm(args []Arg) found {
	out := found{known: true, form: form{class: ReadOnly}}
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		if !a.Literal {
			out.why = "the argument " + clip(a.Text) + " is not literal"
			return out
		}
		if a.Text == "--no-pager" || a.Text == "-P" || a.Text == "--no-optional-locks" {
			continue
		}
		if a.Text == "-C" && out.dir == "" && i+1 < len(args) && args[i+1].Literal && args[i+1].Text != "" && args[i+1].Text[0] != '-' {
			i++
			out.dir = args[i].Text
			continue
		}
		break
	}
	switch {
	case i == len(args):
		out.why = "it has no subcommand"
		return out
	case args[i].Text == "--version" || args[i].Text == "version":
		out.rest = args[i+1:]
		return out
	case strings.HasPrefix(args[i].Text, "-"):
		out.why = "git's option " + Quote(args[i].Text) + " changes what it runs"
		return out
	}
	sub := args[i].Text
	out.rest = args[i+1:]
	if two, ok := gitSubSub(sub, out.rest); ok {
		sub, out.rest = two, out.rest[1:]
	}
	f, ok := gitSubForm(sub)
	if !ok {
		if i == 0 {
			// A subcommand without a form: rules for it go by take.go.
			return found{}
		}
		out.why = "git " + Quote(sub) + " is not known to be harmless"
		return out
	}
	out.form = f
	return out
}

// gitSubSub joins the subcommands that have subcommands of their own.
func gitSubSub(sub string, rest []Arg) (string, bool) {
	if len(rest) == 0 || !rest[0].Literal {
		return "", false
	}
	switch two := sub + " " + rest[0].Text; two {
	case "stash list", "stash show", "worktree list", "remote get-url", "reflog show", "notes list":
		return two, true
	}
	return "", false
}

// gitSubCommand is the word that says what a git command does, for classes.
func gitSubCommand(args []Arg) (sub string, rest []Arg) {
	for i := 0; i < len(args); i++ {
		switch t := args[i].Text; t {
		case "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--attr-source", "--super-prefix":
			i++
		default:
			if !strings.HasPrefix(t, "-") {
				return t, args[i+1:]
			}
		}
	}
	return "", nil
}

// Options that several subcommands share. Left out: --output (writes),
// --ext-diff and --textconv (start programs), --no-index (reads outside the
// repository), -O (reads a file), --show-signature (starts gpg), --remerge-diff
// (writes objects).
const (
	gitDiffShort    = "pusRabwWzc"
	gitDiffShortArg = "SGIl"
	gitDiffShortOpt = "MCBUX"
	gitDiffLong     = "patch no-patch unified= raw patch-with-raw patch-with-stat minimal patience histogram diff-algorithm= indent-heuristic no-indent-heuristic anchored= stat? compact-summary numstat shortstat dirstat? cumulative summary name-only name-status color? no-color color-moved? no-color-moved color-words? word-diff? word-diff-regex= no-renames rename-empty no-rename-empty check full-index binary abbrev? no-abbrev break-rewrites? find-renames? find-copies? find-copies-harder irreversible-delete diff-filter= pickaxe-all pickaxe-regex find-object= relative? no-relative text ignore-cr-at-eol ignore-space-at-eol ignore-space-change ignore-all-space ignore-blank-lines ignore-matching-lines= inter-hunk-context= function-context exit-code quiet no-ext-diff no-textconv ignore-submodules? src-prefix= dst-prefix= no-prefix line-prefix= cc combined-all-paths"
	gitLogShort     = "gimrtEFPq"
	gitLogShortArg  = "nL"
	gitLogLong      = " oneline decorate? no-decorate graph no-graph all branches? tags? remotes? glob= exclude= reverse date= format= pretty? abbrev-commit no-abbrev-commit max-count= skip= since= after= until= before= author= committer= grep= all-match invert-grep regexp-ignore-case basic-regexp extended-regexp fixed-strings perl-regexp merges no-merges min-parents= max-parents= first-parent follow full-diff full-history simplify-by-decoration simplify-merges topo-order date-order author-date-order no-walk? left-right cherry-pick cherry-mark cherry left-only right-only boundary walk-reflogs reflog grep-reflog= source clear-decorations decorate-refs= decorate-refs-exclude= mailmap use-mailmap no-mailmap notes? no-notes expand-tabs? no-expand-tabs parents children relative-date dense sparse ancestry-path? count not"
	gitListLong     = "format= sort= contains= no-contains= merged? no-merged? points-at= column? no-column color? no-color count= ignore-case omit-empty"
)

func gitDiffForm() form {
	return form{class: ReadOnly, most: -1, short: gitDiffShort, shortArg: gitDiffShortArg, shortOpt: gitDiffShortOpt, long: gitDiffLong, check: checkGitFormat}
}

func gitLogForm() form {
	f := gitDiffForm()
	f.short += gitLogShort
	f.shortArg += gitLogShortArg
	f.long += gitLogLong
	f.number = true
	return f
}

// gitSubForm are the subcommands that only read. Their operands are revisions
// or paths; both are reported as paths, for a path is what can lead outside.
func gitSubForm(sub string) (form, bool) {
	f := form{class: ReadOnly, most: -1}
	switch sub {
	case "status":
		f.short, f.shortOpt = "sbvz", "u"
		f.long = "short branch show-stash porcelain? long verbose untracked-files? ignore-submodules? ignored? column? no-column ahead-behind no-ahead-behind renames no-renames find-renames?"
	case "log", "show", "whatchanged", "reflog show", "stash list":
		f = gitLogForm()
	case "shortlog":
		f = gitLogForm()
		f.short += "se"
		f.long += " numbered summary email group= committer"
	case "reflog":
		f = gitLogForm()
		f.most = 0 // a word could be expire or delete
	case "rev-list":
		f = gitLogForm()
		f.long += " objects header timestamp no-commit-header"
	case "diff", "diff-tree", "diff-index", "diff-files", "stash show":
		f = gitDiffForm()
		f.short += "rtm"
		f.long += " cached staged merge-base include-untracked only-untracked root no-commit-id always"
	case "range-diff":
		f = gitDiffForm()
	case "branch":
		f.short, f.long, f.check = "arvil", "all remotes verbose list show-current abbrev? no-abbrev "+gitListLong, listsOnly
	case "tag":
		f.short, f.shortOpt, f.long, f.check = "li", "n", "list "+gitListLong, listsOnly
	case "for-each-ref":
		f.long, f.check = "shell perl python tcl "+gitListLong, checkGitFormat
	case "remote":
		f.short, f.long, f.most = "v", "verbose", 0
	case "remote get-url":
		f.long, f.need, f.most, f.names = "push all", 1, 1, true
	case "config":
		f.short, f.long, f.names, f.most = "z", "get get-all local global system worktree show-origin show-scope name-only null bool int path type= default=", true, 1
		f.need, f.check = 1, checkGitKey
	case "rev-parse":
		f.short = "q"
		f.long = "verify quiet short? abbrev-ref? symbolic symbolic-full-name show-toplevel show-prefix show-cdup show-superproject-working-tree git-dir git-common-dir absolute-git-dir is-inside-git-dir is-inside-work-tree is-bare-repository is-shallow-repository show-object-format? all branches? tags? remotes? revs-only no-revs flags no-flags default= show-ref-format local-env-vars not"
	case "ls-files":
		f.short, f.shortArg = "cdmoisuktvfz", "x"
		f.long = "cached deleted modified others ignored stage directory no-empty-directory unmerged killed exclude= exclude-standard error-unmatch full-name abbrev? eol deduplicate debug"
	case "ls-tree":
		f.short = "dtrlz"
		f.long = "name-only name-status full-name full-tree long abbrev? object-only"
	case "blame", "annotate":
		f.short, f.shortArg, f.shortOpt = "cbltpsewnf", "L", "MC"
		f.long = "root show-stats porcelain line-porcelain incremental date= show-name show-number show-email abbrev= color-lines color-by-age since= first-parent reverse"
	case "describe":
		f.long = "all tags contains abbrev? candidates= exact-match long match= exclude= always first-parent dirty? broken?"
	case "cat-file":
		f.short = "etsp"
	case "merge-base":
		f.short, f.long = "a", "all octopus independent is-ancestor fork-point"
	case "show-ref":
		f.short, f.long = "qds", "head tags heads branches dereference hash? verify abbrev? quiet exists"
	case "name-rev":
		f.long = "tags refs= exclude= all name-only no-undefined always"
	case "cherry":
		f.short, f.long = "v", "verbose abbrev?"
	case "count-objects":
		f.short, f.long, f.most = "vH", "verbose human-readable", 0
	case "check-ignore":
		f.short, f.long = "qvnz", "quiet verbose non-matching no-index"
	case "check-attr":
		f.short, f.long = "az", "all cached"
	case "worktree list":
		f.short, f.long, f.most = "vz", "porcelain verbose", 0
	case "symbolic-ref":
		f.short, f.long, f.names, f.need, f.most = "q", "short quiet", true, 1, 1
	case "grep":
		// Not -O (opens a pager), -f, --no-index, --textconv, --ext-grep.
		f.short, f.shortArg, f.number = "iIwvhHEGPFnlLzocpWqar", "eABCm", true
		f.long = "cached untracked no-exclude-standard exclude-standard text ignore-case word-regexp invert-match full-name extended-regexp basic-regexp perl-regexp fixed-strings line-number column files-with-matches name-only files-without-match null only-matching count color? no-color break heading show-function context= after-context= before-context= function-context and or not all-match quiet max-depth= max-count= recursive no-recursive"
		f.text, f.textUnless, f.check = 1, "e", needsPattern
	default:
		return form{}, false
	}
	return f, true
}

// listsOnly: branch and tag make something of an operand unless told to list.
// Not by -l, with which old gits make a branch.
func listsOnly(u *usage) string {
	if len(u.operands) > 0 && !u.has("list", "contains", "no-contains", "merged", "no-merged", "points-at") {
		return "without --list its operand is created"
	}
	return checkGitFormat(u)
}

// checkGitKey: a word without a dot is a subcommand in newer gits, among them
// edit; and some settings are secrets.
func checkGitKey(u *usage) string {
	key := strings.ToLower(u.operands[0].Text)
	if !strings.Contains(key, ".") {
		return Quote(key) + " is not the name of a setting"
	}
	for _, secret := range []string{"extraheader", "token", "password", "secret", "credential", "cookie", "key"} {
		if strings.Contains(key, secret) {
			return "the setting may be a secret"
		}
	}
	return ""
}

// checkGitFormat: some placeholders start gpg, and a name may stand for a
// format in the repository's settings.
func checkGitFormat(u *usage) string {
	for _, o := range u.opts {
		switch o.name {
		case "format", "pretty":
			known := []string{"", "oneline", "short", "medium", "full", "fuller", "reference", "email", "raw", "mboxrd"}
			if signs(o.value) || strings.Contains(strings.ToLower(o.value), "signature") {
				return "its format makes git start gpg"
			}
			if !strings.Contains(o.value, "%") && !slices.Contains(known, o.value) && !strings.HasPrefix(o.value, "format:") && !strings.HasPrefix(o.value, "tformat:") {
				return "its format " + Quote(o.value) + " may come from the repository"
			}
		case "group": // of shortlog
			if signs(o.value) {
				return "its format makes git start gpg"
			}
		case "sort":
			if strings.Contains(strings.ToLower(o.value), "signature") {
				return "its order makes git start gpg"
			}
		}
	}
	return ""
}

// signs reports whether a format has a placeholder that checks a signature,
// for which git starts gpg.
func signs(format string) bool {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		rest := strings.TrimLeft(format[i+1:], "+- ")
		if strings.HasPrefix(rest, "G") {
			return true
		}
	}
	return false
}
