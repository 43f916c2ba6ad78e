package shellguard

import (
	"slices"
	"strings"
)

// refuses says what in the arguments of an open rule speaks against it, for a
// program that has no form of its own; empty if nothing does. The words are
// those of the rule, without the name: a person wrote them and they are not
// judged.
//
// The rows of taken.txt list the options that neither run, nor write, nor
// send anything beyond what the rule is for. An option that is not in the
// row of its program is refused, and for a program without a row every
// option is: the person who wants it writes it into the rule.
func refuses(name string, words []string, rest []Arg) string {
	if runsScript(name, words) {
		return refusesScript(rest)
	}
	if starts := runnerArgs(name, slices.Concat(asArgs(words), rest)); len(starts) > 0 && len(starts) <= len(rest) && !isNodeRunner(name, words) {
		return "the program that " + Quote(name) + " starts is not in the rule"
	}
	if why := refusesWords(name, words, rest); why != "" {
		return why
	}
	f, args, ok := takeForm(name, words, rest)
	if ok {
		f.names, f.class = true, Runs
		if f.most == 0 {
			f.most = -1
		}
		_, why := f.fit(args)
		return why
	}
	if len(rest) > 0 && (hasSubcommands(name) && len(words) == 0 || len(words) == 1 && words[0] == "compose") {
		return Quote(strings.Join(append([]string{name}, words...), " ")+" "+rest[0].Text) + " is not in the rule"
	}
	for _, a := range rest {
		if t := a.Text; strings.HasPrefix(t, "-") && t != "-" && t != "--" {
			return Quote(t) + " may change what is run"
		}
	}
	return ""
}

// wordBefore is the word before the one at i; empty if there is none.
func wordBefore(args []Arg, i int) string {
	if i == 0 {
		return ""
	}
	return args[i-1].Text
}

func asArgs(words []string) []Arg {
	out := make([]Arg, 0, len(words))
	for _, w := range words {
		out = append(out, Arg{Text: w, Literal: true})
	}
	return out
}

// isNodeRunner: "npm run" and its like start what package.json says, not a
// program that stands in the line.
func isNodeRunner(name string, words []string) bool {
	return isOneOf(name, "npm pnpm yarn bun") && len(words) > 0 && words[0] == "run"
}

// refusesWords: plain words that mean more than they look like.
func refusesWords(name string, words []string, rest []Arg) string {
	if name == "git" {
		if why := refusesGit(words, rest); why != "" {
			return why
		}
	}
	packages := installs(name, words, rest)
	for i, a := range rest {
		t := a.Text
		if packages && notPackage(t) {
			return Quote(t) + " is not a package by its name"
		}
		switch name {
		case "tar", "bsdtar", "gtar", "rsync":
			if strings.Contains(t, ":") {
				return Quote(t) + " is on another machine"
			}
		case "curl", "wget", "aria2c":
			if notWeb(t) {
				return Quote(t) + " is not an address of the web"
			}
			if name == "curl" && patternAddress(rest, i) && !slices.Contains(words, "-g") && !slices.Contains(words, "--globoff") {
				return Quote(t) + " is a pattern that curl makes addresses of; -g in the rule switches that off"
			}
		case "http", "https", "xh", "xhs", "httpie":
			if strings.ContainsAny(t, "@<") {
				return Quote(t) + " may send a file"
			}
		case "sqlite3":
			if i+len(words) > 0 && !safeSQL(words) && !plainSelect(t) {
				return Quote(t) + " may do more than read: with sqlite3 -safe -readonly in the rule, it cannot start programs"
			}
		case "aws":
			if strings.Contains(t, "file://") || strings.Contains(t, "fileb://") {
				return Quote(t) + " reads a file"
			}
		case "mvn", "mvnw":
			if strings.Count(t, ":") > 1 || strings.HasPrefix(t, "exec:") || strings.HasPrefix(t, "antrun:") || strings.HasPrefix(t, "dependency:") || strings.HasPrefix(t, "help:") {
				return Quote(t) + " runs a plugin"
			}
		case "docker", "podman", "nerdctl":
			if len(words) > 0 && words[0] == "build" && (strings.Contains(t, "://") || strings.HasPrefix(t, "git@") || strings.HasPrefix(t, "github.com/")) {
				return Quote(t) + " is not a directory here"
			}
		case "dotnet":
			if strings.HasPrefix(t, "/") {
				return Quote(t) + " is an option"
			}
		}
		switch name {
		case "npm", "yarn", "pnpm", "dig", "gh":
		default:
			if strings.HasPrefix(t, "@") { // a file of arguments, to many programs
				return Quote(t) + " may change what is run"
			}
		}
	}
	return ""
}

// sendsInput: programs that send what they find on standard input, which does
// not stand in the line.
func sendsInput(name string) bool {
	return isOneOf(name, "http https xh xhs nc ncat netcat socat telnet mail mailx sendmail ftp sftp")
}

// gitStarts: subcommands whose operands are programs, or that start some.
func gitStarts(sub string) bool {
	return isOneOf(sub, "bisect submodule filter-branch filter-repo difftool mergetool hook send-email for-each-repo daemon instaweb web--browse credential upload-pack receive-pack shell var archive")
}

// hasSubcommands: programs that do very different things by their first word,
// so that a rule for all of them does not mean those that nobody knows.
func hasSubcommands(name string) bool {
	return isOneOf(name, "gh glab aws gcloud az terraform tofu helm systemctl brew apt apt-get pip pip3 gem dotnet rustup flutter fly heroku vercel netlify firebase doctl docker-compose snap flatpak virsh vagrant ruff hg svn rclone supabase wrangler pulumi mise asdf direnv just")
}

// runsScript: the rule names a script, so that what follows is for the script.
func runsScript(name string, words []string) bool {
	return (strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy")) && len(words) > 0 && !strings.HasPrefix(words[0], "-")
}

// refusesScript: options of a script are its own affair, but for those that mean
// a program or a configuration to nearly everything that has them.
func refusesScript(rest []Arg) string {
	const words = "exec execute exec-path command cmd shell eval import plugin plugins preload config config-file rcfile init-file hook hooks wrapper interpreter program launcher entrypoint env-file settings template editor pager output out log-file"
	for _, a := range rest {
		if !strings.HasPrefix(a.Text, "-") || a.Text == "-" || a.Text == "--" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimLeft(a.Text, "-"), "=")
		if strings.HasPrefix(a.Text, "--") && abbreviates(name, words) || !strings.HasPrefix(a.Text, "--") && strings.ContainsAny(a.Text[1:], "cpo") {
			return Quote(a.Text) + " may change what is run"
		}
	}
	return ""
}

// abbreviates reports whether a word is one of the list or the beginning of
// one: many programs take "--exe" for "--exec".
func abbreviates(word, list string) bool {
	word = strings.ToLower(word)
	return strings.HasPrefix(list, word) || strings.Contains(list, " "+word)
}
