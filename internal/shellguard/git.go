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
	f, ok := formTable().of("git " + sub)
	if !ok {
		if i == 0 {
			// A subcommand without a form: rules for it go by taken.txt.
			return found{}
		}
		out.why = "git " + Quote(sub) + " is not known to be harmless"
		return out
	}
	f.dashed = true
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
