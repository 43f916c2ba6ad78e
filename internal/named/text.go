package named

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// isCommandKey tells whether the value of a key is a command line or a part of one. The
// arguments of a program that a setting of an editor is about, such as
// "python.testing.pytestArgs", are what it works on.
func isCommandKey(key string) bool {
	key = strings.ToLower(key)
	switch key {
	case "args", "arguments", "cwd", "node_options", "bash_env", "pythonpath", "pythonstartup", "perl5opt", "perl5lib", "rubyopt", "ld_preload":
		return true
	}
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		key = key[i+1:]
	}
	return slices.ContainsFunc([]string{"command", "commands", "cmd", "helper", "notify", "executable", "alternatetools", "awsauthrefresh", "awscredentialexport"}, func(end string) bool { return strings.HasSuffix(key, end) })
}

// isToolKey tells whether the value of a key is a program that an editor runs for
// another one. Such programs mostly lie in an environment that is made anew.
func isToolKey(key string) bool {
	key = strings.ToLower(key)
	return key == "binary" || strings.HasSuffix(key, "interpreterpath") || strings.HasSuffix(key, "executablepath") || strings.HasSuffix(key, ".nodepath") || strings.HasPrefix(key, "terminal.integrated.profiles.")
}

// editor gives the strings that an editor runs by its settings.
func editor(text string) []string {
	return append(JSON(text), slices.DeleteFunc(stringsInJSON(text, isToolKey), func(line string) bool {
		return strings.Contains(line, "node_modules/") || strings.Contains(line, "env/bin/") || strings.Contains(line, "env/Scripts/")
	})...)
}

// everyString gives all strings of settings that say nothing but what is run.
func everyString(text string) []string { return stringsInJSON(text, func(string) bool { return true }) }

// inQuotes gives the strings of a script of an editor.
func inQuotes(text string) (lines []string) {
	for _, m := range quoted.Regexp().FindAllStringSubmatch(text, 4*maxFiles) {
		lines = append(lines, strings.TrimPrefix(m[1]+m[2], "source "))
	}
	return append(lines, Script(text)...)
}

// JSON gives the strings that are run, of settings with or without comments. It
// reads what is broken too, as those who obey it may.
func JSON(text string) []string { return stringsInJSON(text, isCommandKey) }

// tasks are those of an editor. They are run by a person who wants to build or
// test the project, unless one of them says that opening it is enough.
func tasks(text string) []string {
	if !strings.Contains(text, "folderOpen") {
		return nil
	}
	return JSON(text)
}

// container: of what is run for a container, one is run on the host.
func container(text string) []string {
	return stringsInJSON(text, func(key string) bool { return strings.EqualFold(key, "initializeCommand") })
}

func stringsInJSON(text string, wanted func(key string) bool) (lines []string) {
	var open []string // the key that each bracket around is the value of
	key, last, isLast := "", "", false
	use := func() {
		if isLast && (wanted(key) || slices.ContainsFunc(open, wanted)) {
			lines = append(lines, last)
		}
		isLast = false
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			n := 1
			for i+n < len(text) && text[i+n] != '"' {
				if text[i+n] == '\\' {
					n++
				}
				n++
			}
			end := min(i+n+1, len(text))
			if json.Unmarshal([]byte(text[i:end]), &last) != nil {
				last = strings.Trim(text[i:end], `"`)
			}
			isLast = true
			i = end - 1
		case strings.HasPrefix(text[i:], "//"):
			i += len(textBefore(text[i:], "\n"))
		case strings.HasPrefix(text[i:], "/*"):
			i += len(textBefore(text[i:], "*/")) + 1
		case c == ':':
			key, isLast = last, false
		case c == '{' || c == '[':
			open = append(open, key)
			key = ""
		case c == '}' || c == ']':
			use()
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			key = ""
		case c == ',':
			use()
			key = ""
		}
	}
	use()
	return lines
}

func textBefore(text, end string) string {
	head, _, _ := strings.Cut(text, end)
	return head
}

var quoted = pattern.Of(`"((?:[^"\\]|\\.)*)"|'([^']*)'`)

// TOML gives the strings that are run.
func TOML(text string) (lines []string) {
	wanted := false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "#") {
			continue
		}
		if name, value, ok := strings.Cut(line, "="); ok && !strings.ContainsAny(name, `"'[`) {
			wanted, line = isCommandKey(strings.TrimSpace(name)), value
		} else if strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]") && !strings.ContainsAny(trimmed, `"',`) {
			wanted = false
		}
		if !wanted {
			continue
		}
		for _, m := range quoted.Regexp().FindAllStringSubmatch(line, -1) {
			lines = append(lines, m[1]+m[2])
		}
	}
	return lines
}

// maxValue bounds the value of a variable, and maxWord a word.
const (
	maxValue = 256
	maxWord  = 4096
)

// assigned is a variable of a script.
var assigned = pattern.Of(`^\s*(?:export\s+)?(?:set\s+-gx\s+([A-Za-z_][A-Za-z0-9_]*)\s+|([A-Za-z_][A-Za-z0-9_]*)=)(\S+)\s*$`)

// Script gives what a script runs or reads as a part of itself: the word that a
// command begins with, if it is a path, and what follows an interpreter or a
// word such as source. What a test looks at, or a program works on, is not meant.
func Script(text string) (lines []string) {
	variables := map[string]string{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") || strings.HasPrefix(strings.TrimSpace(line), `" `) {
			continue
		}
		if m := assigned.Regexp().FindStringSubmatch(line); m != nil && len(variables) < maxFiles && len(m[3]) < maxValue && !strings.ContainsAny(m[3], "`(") {
			// One that is made of others would be read without end.
			if value := strings.Trim(m[3], `"'`); !strings.Contains(strings.TrimPrefix(value, "$HOME/"), "$") {
				variables[m[1]+m[2]] = value
			}
			continue
		}
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return strings.ContainsRune(";&|()`\n", r) }) {
			for _, word := range command(strings.Fields(part)) {
				lines = append(lines, expand(word, variables))
			}
		}
		if len(lines) > 16*maxFiles {
			break
		}
	}
	return lines
}

func expand(word string, variables map[string]string) string {
	if len(word) > maxWord {
		return ""
	}
	for name, value := range variables {
		if strings.Trim(word, `"'`) == "$"+name {
			return value
		}
		for _, form := range []string{"${" + name + "}", "$" + name + "/"} {
			if strings.Contains(word, form) {
				word = strings.ReplaceAll(word, form, value+strings.Repeat("/", strings.Count(form, "/")))
			}
		}
	}
	return word
}
