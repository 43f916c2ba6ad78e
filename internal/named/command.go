package named

import (
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/starter"
)

// command gives the words of one command that are run, or read as code.
func command(words []string) (found []string) {
	head := true // the next word is what is run
	for i := 0; i < len(words); i++ {
		word := words[i]
		switch name := programName(word); {
		case head && slices.Contains([]string{"[", "[[", "test"}, name):
			return found // it looks at files
		case head && name == "command" && i+1 < len(words) && strings.EqualFold(words[i+1], "-v"):
			return found // it asks
		case head && name == ".", sourcesNext(name):
			found = append(found, words[min(i+1, len(words)):min(i+2, len(words))]...)
			head = false
		case head && (name == "cd" || name == "pushd"):
			return append(found, words[min(i+1, len(words)):min(i+2, len(words))]...)
		case inContainer(word):
			return found
		case isInterpreter(name):
			return append(found, scripts(name, words[i+1:])...)
		case startsCommand(name):
			head = true
		case !head:
		case strings.HasPrefix(word, "-"): // of a word that leads on
			if slices.Contains([]string{"-u", "-g", "-C", "-n"}, word) {
				i++
			}
		case strings.Contains(textBefore(word, "/"), "="): // a variable for what follows
		default:
			if strings.ContainsAny(word, "/$") && strings.Trim(word, `"'$`) != "" {
				found = append(found, word)
			}
			head = false
		}
	}
	return found
}

// programName is the name of a program, without quotes and directories.
func programName(word string) string {
	word = strings.Trim(word, `"'`)
	return word[strings.LastIndexByte(word, '/')+1:]
}

// scripts gives what an interpreter reads: its script, and what options load
// before that. The words behind the script are what it works on. One that it only
// looks at, as php -l does, is not meant, nor all tests that fit a pattern.
func scripts(name string, words []string) (found []string) {
	loads := false // the option before has a value
	looks, tests := false, false
	for _, word := range words {
		switch {
		case strings.HasPrefix(word, "-"):
			looks, tests = looks || onlyLooks(name, word), tests || word == "--test"
			option, value, has := strings.Cut(word, "=")
			if loads = !has && valued(option); has {
				found = append(found, value)
			}
		case strings.ContainsAny(word, "<>"):
			return found
		case programName(word) == "run": // deno run, bun run
		case loads:
			found, loads = append(found, word), false
		case looks, tests && isPattern(word):
			return found
		default:
			return append(found, word)
		}
	}
	return found
}

// valued knows the options of interpreters that have a value behind them.
func valued(option string) bool {
	return slices.Contains([]string{"-r", "--require", "--import", "--loader", "--experimental-loader", "--preload", "--env-file", "--rcfile", "--init-file", "-I", "-L", "-W", "-X", "-O", "-o", "-C"}, option)
}

// onlyLooks knows the options by which an interpreter checks a script and does not
// run it. (perl -c runs a part of it.)
func onlyLooks(name, option string) bool {
	short := !strings.HasPrefix(option, "--")
	switch {
	case starter.IsShell(name):
		return short && strings.Contains(option, "n") && !strings.Contains(option, "o") || option == "--no-execute"
	case name == "node":
		return option == "-c" || option == "--check"
	case name == "php":
		return option == "-l" || option == "--syntax-check"
	case name == "ruby":
		return option == "-c" || option == "-wc"
	}
	return false
}

// inContainer: what follows this word is run in a container, with its files.
func inContainer(word string) bool {
	return slices.Contains([]string{"docker", "docker-compose", "podman", "podman-compose", "nerdctl"}, word)
}

// sourcesNext: what follows this word is read as a part of the script.
func sourcesNext(word string) bool {
	return slices.Contains([]string{"source", "so", "source-file", "source_env", "source_env_if_exists", "source_up", "dotenv", "dotenv_if_exists", "luafile", "run-shell"}, word)
}

// isInterpreter: what follows this word is a script.
func isInterpreter(word string) bool {
	return strings.HasPrefix(word, "python") || slices.Contains([]string{"sh", "bash", "zsh", "dash", "ksh", "fish", "node", "deno", "bun", "tsx", "ts-node", "ruby", "perl", "php", "lua"}, word)
}

// startsCommand: what follows this word is the word that a command begins with.
func startsCommand(word string) bool {
	return slices.Contains([]string{"exec", "command", "env", "sudo", "time", "nohup", "then", "do", "else", "elif", "if", "while", "until", "!", "{", "run", "eval"}, word)
}
