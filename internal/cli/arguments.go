package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcrib/toolcrib/internal/text"
)

// usageArgs makes complaints about arguments usage errors, in a sentence that says what
// to give. A check that has words of its own keeps them.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := check(cmd, args)
		switch {
		case err == nil:
			return nil
		case cmd.HasSubCommands() && len(args) > 0:
			return unknownCommand(cmd, args[0])
		case !countsArguments(err):
			return usage(err)
		}
		return wrongCount(cmd, args)
	}
}

// countsArguments tells cobra's own complaints, which name neither what is missing nor
// where to find it.
func countsArguments(err error) bool {
	said := err.Error()
	return strings.Contains(said, "arg(s)") || strings.HasPrefix(said, "unknown command ")
}

// wrongCount says which argument is missing, or which is too many.
func wrongCount(cmd *cobra.Command, args []string) error {
	form, path := formOf(cmd), cmd.CommandPath()
	plain, _, _ := strings.Cut(form, " --") // flags stand behind it
	plain, _, _ = strings.Cut(plain, " [--")
	need, _, _ := strings.Cut(plain, "[")
	if len(args) == 0 || len(args) < len(strings.Fields(need)) {
		if what := wanted()[strings.TrimPrefix(path, "toolcrib ")]; what != "" {
			return usagef("give %s. Write: %s %s", what, path, form)
		}
		return usagef("an argument is missing. Write: %s %s", path, form)
	}
	if form == "" {
		return usagef("%s takes no arguments, and %q is one", path, clipped(args[0]))
	}
	most := len(strings.Fields(plain))
	return usagef("%q is one argument too many. Write: %s %s", clipped(args[min(most, len(args)-1)]), path, form)
}

// formOf is what stands behind the name of a command on its help page, without flags.
func formOf(cmd *cobra.Command) string {
	_, form, _ := strings.Cut(cmd.Use, " ")
	return form
}

func clipped(word string) string { return text.ClipWidth(text.ShowLine(word), 40) }

// wanted says of the commands that cannot do without an argument what that is, and how
// to find it.
func wanted() map[string]string {
	const (
		server   = "the name of an MCP server; 'toolcrib hub' lists them"
		document = "the name of an OpenAPI document; 'toolcrib openapi' lists them"
		bundle   = "the name of a bundle; 'toolcrib bundle' lists them"
		tool     = "the name of a tool; 'toolcrib tools' lists them"
		talk     = "the ID of a conversation; 'toolcrib sessions' lists them"
		layer    = "the ID of a layer, or its beginning; 'toolcrib layers' lists them"
		call     = "the ID of a call, or its beginning; 'toolcrib journal' lists them"
		skill    = "the name of a skill; 'toolcrib skills' lists them"
		script   = "the name of a script; 'toolcrib scripts' lists them"
		registry = "the name of a registry; 'toolcrib market registry' lists them"
		found    = "a name; 'toolcrib market search WORD' finds it"
		rule     = "a rule, such as 'run_command(go test *)' or write_file"
		fresh    = "a name for it, of small letters, digits and - or _"
		client   = "a client, such as claude-code or cursor; 'toolcrib connect --help' lists them"
		newSkill = "a name for the skill, of small letters, digits and -"
	)
	return map[string]string{
		"connect": client, "hook": "the client whose hook this is: claude-code, codex or gemini",
		"tools show": tool, "tools try": tool, "tools search": "a word or more of what the tool is for",
		"tools check":    "a file of tools, or the name of a tool of yours ('toolcrib tools' lists them)",
		"approvals show": "the ID of a question; 'toolcrib approvals' lists them",
		"journal show":   call, "journal undo": call,
		"layers show": layer, "layers apply": layer, "layers drop": layer,
		"trash restore": "the ID of what was deleted, or its beginning; 'toolcrib trash' lists it",
		"config set":    "a setting and its value; 'toolcrib config reference' lists the settings",
		"policy allow":  rule, "policy ask": rule, "policy deny": rule,
		"policy test": "a file of cases; 'toolcrib policy test --help' shows one", "policy explain": tool,
		"policy import": "a file of permissions, such as ~/.claude/settings.json", "policy diff": "the file of settings to compare with",
		"sandbox explain": tool, "sandbox run": "a program to run, such as: -- ls -la",
		"sandbox trust revoke": "a program or a directory; 'toolcrib sandbox trust list' shows them",
		"token revoke":         "the name of a token; 'toolcrib token list' shows them",
		"bundle install":       "a folder, an archive or the address of a git repository", "bundle new": fresh, "bundle pack": "the folder of the bundle",
		"bundle remove": bundle, "bundle rollback": bundle, "bundle show": bundle, "bundle update": bundle,
		"hub add":      "a name for the server, and behind -- the program that starts it (or --url and its address)",
		"hub classify": server, "hub login": server, "hub logout": server, "hub remove": server, "hub restart": server, "hub show": server,
		"market index": "the directory to make a registry of", "market install": found, "market show": found,
		"market registry add": "a name for the registry, and its address", "market registry remove": registry,
		"new agent": fresh, "new bundle": fresh, "new skill": newSkill, "new tool": fresh, "new toolbox": fresh, "new workflow": fresh,
		"openapi add":     "a name for the document, and its file or address",
		"openapi approve": document, "openapi grant": document, "openapi login": document, "openapi logout": document,
		"openapi remove": document, "openapi show": document, "openapi diff": document, "openapi check": "the file or the address of an OpenAPI document",
		"plugins check": "the program of a plugin, and its arguments", "scripts remove": script, "scripts show": script, "scripts try": script,
		"skills new": newSkill, "skills show": skill, "skills try": skill, "skills validate": "the folder of a skill, or its SKILL.md",
		"models remove": "the name of a model; 'toolcrib models' lists them", "models set": "a name for the model",
		"sessions branch": talk, "sessions remove": talk, "sessions replay": talk, "sessions show": talk,
		"bus call":        "a toolbox and a tool of it; 'toolcrib bus list' shows both",
		"service install": "what to run from log-in on: serve, bus, or both",
		"man":             "a directory to write them into",
	}
}

// flagError says of a flag that there is none, or which value it takes, and which one may
// have been meant.
func flagError(cmd *cobra.Command, err error) error {
	said, path := err.Error(), cmd.CommandPath()
	if name, ok := strings.CutPrefix(said, "unknown flag: --"); ok {
		if near := text.Nearest(name, flagNames(cmd)); near != "" {
			return usagef("%s has no flag --%s. Did you mean: --%s", path, name, near)
		}
		return usagef("%s has no flag --%s; '%s --help' lists them", path, name, path)
	}
	if rest, ok := strings.CutPrefix(said, "unknown shorthand flag: "); ok {
		_, given, _ := strings.Cut(rest, " in ")
		return usagef("%s has no flag %s; '%s --help' lists them", path, given, path)
	}
	if rest, ok := strings.CutPrefix(said, "flag needs an argument: "); ok {
		if letter, _, ok := strings.Cut(rest, " in "); ok {
			rest = "-" + strings.Trim(letter, "'")
		}
		return usagef("%s needs a value behind it%s", rest, exampleOf(cmd, strings.TrimLeft(rest, "-")))
	}
	if name, value, ok := badValue(said); ok {
		return usagef("--%s is %s: want %s", name, value, kindOf(cmd, name))
	}
	return usage(err)
}

// badValue reads which value of which flag the library of flags did not take.
func badValue(said string) (name, value string, ok bool) {
	rest, ok := strings.CutPrefix(said, "invalid argument ")
	value, rest, found := strings.Cut(rest, ` for "`)
	name, _, ended := strings.Cut(rest, `" flag: `)
	_, name, named := strings.Cut(name, "--")
	return name, value, ok && found && ended && named
}

func flagNames(cmd *cobra.Command) (names []string) {
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.Flags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// exampleOf says what a flag takes, as its own line of the help page does.
func exampleOf(cmd *cobra.Command, name string) string {
	flag := cmd.Flag(name)
	if flag == nil && len(name) == 1 {
		flag = cmd.Flags().ShorthandLookup(name)
	}
	if flag == nil || flag.Usage == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", flag.Usage)
}

// kindOf says in words what a flag takes.
func kindOf(cmd *cobra.Command, name string) string {
	flag := cmd.Flag(name)
	if flag == nil {
		return "another value"
	}
	switch kind := flag.Value.Type(); kind {
	case "bool":
		return "true or false"
	case "duration":
		return "a time, such as 30s, 5m or 2h"
	case "int", "int64", "uint", "uint64", "count":
		return "a whole number"
	case "float64":
		return "a number"
	default:
		return "what its help says: " + flag.Usage
	}
}
