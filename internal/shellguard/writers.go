package shellguard

import (
	"slices"
	"strings"
)

// mayWrite: nobody knows that a program only reads what it is given.
func (p *Program) mayWrite(name string) bool {
	return p.Class != ReadOnly && !keepsOperands(name, p.Args)
}

// writesOperands knows programs whose operands are written, moved or removed.
func writesOperands(name string) bool {
	return isOneOf(name, "rm rmdir mv cp ln touch tee mkdir truncate chmod chown chgrp install dd sed patch rsync unlink shred gzip gunzip bzip2 bunzip2 xz unxz zstd compress uncompress sponge mkfifo mknod mktemp")
}

// keepsOperands knows programs that write nothing where their operands are, or
// only with options that were not given. The others may, whatever they are.
func keepsOperands(name string, args []Arg) bool {
	has := func(options ...string) bool {
		return slices.ContainsFunc(args, func(a Arg) bool {
			return slices.ContainsFunc(options, func(o string) bool {
				return a.Text == o || strings.HasPrefix(o, "--") && strings.HasPrefix(a.Text, "--") && len(a.Text) > 4 && abbreviated(a.Text, o) || len(o) == 2 && strings.HasPrefix(a.Text, o) && !strings.HasPrefix(a.Text, "--")
			})
		})
	}
	switch name {
	case "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "wc", "diff", "cmp", "comm", "ls", "tree", "du", "stat", "file", "md5sum", "sha1sum", "sha256sum", "sha512sum", "cksum", "jq", "bat", "nl", "od", "hexdump", "strings", "cut", "tac", "rev", "basename", "dirname", "realpath", "readlink", "test", "[", "cd", "pushd", "echo", "printf", "less", "more", "export":
		return !has("-o", "-O", "--output")
	case "ssh":
		return !has("-E")
	case "docker", "podman":
		return !has("cp", "save", "export", "-o", "--output", "--volume", "--mount", "--cidfile", "--iidfile", "--metadata-file") && (has("compose") || !has("-v"))
	case "kubectl":
		return !has("cp", "--output-directory", "--cache-dir", "--profile-output")
	case "helm":
		return !has("create", "package", "dependency", "--output-dir", "-d", "--destination")
	case "gh":
		return !has("clone", "-o", "-O", "--output", "-D", "--dir")
	case "curl":
		return !has("-o", "-O", "--output", "--output-dir", "-D", "-c", "--cookie-jar", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--etag-save", "--hsts", "--alt-svc") &&
			!slices.ContainsFunc(args, func(a Arg) bool { return strings.Contains(a.Text, "%output{") })
	case "wget":
		return !has("-o", "-a", "-O", "-P", "--output-document", "--output-file", "--append-output", "--directory-prefix", "--save-cookies", "--warc-file", "--rejected-log", "--hsts-file")
	case "sort":
		return !has("-o", "--output")
	case "find", "fd", "fdfind":
		return !has("-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls", "-x", "-X", "--exec", "--exec-batch")
	case "go":
		return !has("-o", "-coverprofile", "-cpuprofile", "-memprofile", "-trace", "-outputdir", "generate", "fmt", "fix", "mod", "work", "run", "test")
	case "git":
		switch sub, _ := gitSubCommand(args); sub {
		case "add", "commit", "push", "fetch", "tag", "branch", "config", "remote", "log", "diff", "show", "blame", "status", "ls-files", "grep", "rev-parse", "describe", "shortlog", "reflog":
			return !has("--output", "-o", "-O") && !(sub == "config" && has("-f", "--file"))
		}
	}
	return isWrapper(name) && name != "script" && name != "flock" // what it starts is looked at by itself
}

// printsNames knows programs that print the names of the files they find, which
// xargs, read or a substitution then give to others.
func printsNames(name string) bool {
	return isOneOf(name, "ls dir vdir grep egrep fgrep rg ag ack tree du stat file locate") || printsWords(name)
}

// printsWords: of those, the ones for which any word may be such a name.
func printsWords(name string) bool {
	return isOneOf(name, "find fd fdfind git echo printf realpath readlink basename dirname")
}

// takesSentences: programs of which a word may hold several that they read as
// commands. What git is told is a message, and code of other languages is read
// elsewhere.
func takesSentences(name string) bool {
	return !isOneOf(name, "git sed gsed awk gawk mawk nawk jq perl python python3 node ruby php npm gh make tee docker podman") && !isShell(name) && !isWrapper(name)
}

// searched is the pattern that a program makes of a word, if any: fd looks for a
// part of a name.
func searched(name, text string) string {
	switch {
	case (name == "fd" || name == "fdfind") && len(text) > 1:
		return "*" + text + "*"
	case !takesSentences(name) && name != "git" && name != "npm":
		return "" // it is code
	}
	return text
}
