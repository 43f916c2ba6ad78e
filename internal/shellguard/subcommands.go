package shellguard

import "strings"

// everySubcommand lists the subcommands that a rule about a whole program means
// ("git *"): those of everyday work in a project that the tables know. What publishes,
// installs for other programs, empties, or runs what is not the project's is named by
// a rule of its own.
func everySubcommand(name string) string {
	switch name {
	case "git":
		return "add commit checkout switch restore stash merge rebase fetch pull mv rm cherry-pick revert init branch tag"
	case "go":
		return "build test vet run mod fmt generate get clean list"
	case "npm":
		return "test t tst run run-script ci install i add uninstall update ls list outdated view info audit why start"
	case "yarn", "pnpm":
		return "test run install add remove ls list outdated why start build lint dev typecheck format check"
	case "cargo":
		return "build b test t check c clippy fmt run doc bench tree add update fetch metadata"
	}
	return ""
}

// Whole reports whether the rule is about a program with all its everyday commands.
func (r Rule) Whole() bool {
	return r.Open && len(r.Words) == 1 && everySubcommand(r.Words[0]) != ""
}

// takesSubcommand: a rule about a whole program takes this command.
func takesSubcommand(p *Program, name string, rest []Arg) string {
	switch {
	case len(rest) == 0:
		return "it has no subcommand"
	case !rest[0].Literal || strings.HasPrefix(rest[0].Text, "-") || !isOneOf(rest[0].Text, everySubcommand(name)):
		return Quote(name+" "+rest[0].Text) + " needs a rule of its own"
	case p.Class == Destroys || name == "git" && p.flag("fBCD", "force"):
		return Quote(name+" "+rest[0].Text) + " may throw away what cannot be got back, and needs a rule of its own"
	}
	return takes(p, name, []string{rest[0].Text}, rest[1:])
}
