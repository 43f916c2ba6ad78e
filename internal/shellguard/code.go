package shellguard

import (
	"path"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/pattern"
)

// maxStrings bounds the strings of one text that are read as commands; of the
// others only those are that have a word the floor is about.
const maxStrings = 300

// embedded looks into code of another language for commands: each string in it
// may be one, and so may several in a row, as in ["rm", "-rf", "/"].
func (w *walker) embedded(code string, sc scope) {
	if sc.depth > maxWrapping {
		w.tooMuch()
		return
	}
	w.line.texts = append(w.line.texts, code)
	if why := codeFloor(code, sc.dirs, w.opt.Homes); why != "" {
		w.line.floor = append(w.line.floor, why)
	}
	in := sc.started("code")
	in.dynamic, in.input = true, nil
	found := quotedStrings(code)
	followed, starts := 0, codeStarts.MatchString(code)
	for i, s := range found {
		switch {
		case strings.ContainsAny(s, " \t\n"):
			if followed++; followed <= maxStrings || floorWord(s) {
				w.maybeScript(s, sc)
			}
			if strings.ContainsAny(s, "'\"`") && in.depth < maxWrapping {
				w.embedded(s, in) // code that makes code
			}
		case starts && floorProgram(path.Base(s)) && i+1 < len(found):
			w.possibleWalker().program(asArgs(found[i:min(i+maxReadings, len(found))]), in)
		}
	}
	if starts || codeRemoves.MatchString(code) {
		w.assembledCommands(code, in)
	}
	if len(found) > maxStrings {
		w.line.hides = true // a rule may mean one of those that were not read
	} else if len(found) > 1 && starts {
		w.maybeScript(strings.Join(found, " "), sc)
	}
	for line := range strings.SplitSeq(code, "\n") {
		for _, mark := range []string{"!", `\!`, ":!", ".shell ", ".system ", "sh ", "shell ", "spawn ", "exec ", "system "} {
			if cut, ok := strings.CutPrefix(strings.TrimSpace(line), mark); ok {
				w.maybeScript(strings.TrimPrefix(cut, "!"), sc)
			}
		}
	}
}

// floorProgram: programs that the floor is about, or that start one.
func floorProgram(name string) bool {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "srm", "truncate", "rimraf", "del-cli", "trash-cli", "premove", "trash", "chmod", "chown", "chgrp", "mv", "dd", "find", "git", "hub", "rsync", "tee", "cp", "mkswap", "wipefs", "blkdiscard", "fdisk", "sfdisk", "parted",
		"shutdown", "reboot", "halt", "poweroff", "systemctl", "kill", "pkill", "killall", "crontab", "tar", "curl", "wget":
		return true
	}
	return isShell(name) || isWrapper(name) || strings.HasPrefix(name, "mkfs")
}

// floorWord: the text names such a program somewhere.
func floorWord(text string) bool {
	for word := range strings.FieldsFuncSeq(text, notInName) {
		if floorProgram(path.Base(word)) {
			return true
		}
	}
	return false
}

// notInName cuts text into words that may be names of programs.
func notInName(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_+.-/~$", r)
}

// quotedStrings finds what stands in quotes, in any language, also in those of
// perl and ruby that are letters. Strings that are put together become one.
func quotedStrings(code string) []string { return quotedStringsBy(code, joinsStrings) }

// quotedStringsBy is quotedStrings with a view of its own of what puts strings
// together.
func quotedStringsBy(code string, joins func(between string) bool) []string {
	var out []string
	end := -1 // where the string before ended
	for i := 0; i < len(code); i++ {
		closing, list := byte(0), false
		start := i
		switch q := code[i]; q {
		case '"', '\'', '`':
			closing = q
			if strings.HasPrefix(code[i:], strings.Repeat(string(q), 3)) {
				i += 2 // """…""" ends as it begins; the rest of its quotes are empty strings
			}
		case 'q', '%':
			closing, list, i = letterQuote(code, i)
		}
		if closing == 0 {
			continue
		}
		var b strings.Builder
		depth := 0
		for i++; i < len(code) && (code[i] != closing || depth > 0); i++ {
			switch c := code[i]; {
			case c == '\\' && i+1 < len(code):
				var text string
				text, i = unescapedAt(code, i)
				b.WriteString(text)
				continue
			case c == opening(closing):
				depth++
			case c == closing:
				depth--
			}
			b.WriteByte(code[i])
		}
		switch text := b.String(); {
		case list:
			out = append(out, strings.Fields(text)...)
		case end >= 0 && len(out) > 0 && joins(code[end:start]):
			out[len(out)-1] += text
		default:
			out = append(out, text)
		}
		end = min(i+1, len(code))
		if list {
			end = -1
		}
	}
	return out
}

// joinsStrings: what stands between two strings makes one of them.
func joinsStrings(between string) bool {
	t := strings.TrimSpace(between)
	return t == "+" || t == "." || t == ".." || t == "" && between == "" || t == "<>" || t == "~"
}

// letterQuote reads q{ qq( qw[ qx< of perl and %w[ %x( %q{ of ruby: the sign that
// ends the string, whether it is a list of words, and where its first sign is.
func letterQuote(code string, i int) (closing byte, list bool, at int) {
	at = i
	if i > 0 && (isNameByte(code[i-1]) || strings.IndexByte("$@%&", code[i-1]) >= 0) {
		return 0, false, at
	}
	j := i + 1
	for j < len(code) && j < i+3 && strings.IndexByte("qwxQWIirl", code[j]) >= 0 {
		list = list || code[j] == 'w' || code[j] == 'W'
		j++
	}
	k := j
	for k < len(code) && code[k] == ' ' && code[i] == 'q' {
		k++
	}
	if k >= len(code) {
		return 0, false, at
	}
	if at := strings.IndexByte("{([<", code[k]); at >= 0 {
		return "})]>"[at], list, k
	}
	switch code[k] {
	case '/', '|', '!', '#', ',', '~', '^':
		if j == i+1 && code[i] == '%' || code[k] == ',' && j == i+1 {
			return 0, false, at // an operator
		}
		return code[k], list, k
	}
	return 0, false, at
}

func opening(closing byte) byte {
	if at := strings.IndexByte("})]>", closing); at >= 0 {
		return "{([<"[at]
	}
	return 0
}

// unescapedAt reads what follows a backslash, and says where it ends.
func unescapedAt(code string, i int) (text string, end int) {
	i++
	switch c := code[i]; c {
	case 'n', 'r':
		return "\n", i
	case 't':
		return "\t", i
	case '\n':
		return "", i
	case 'x', 'u':
		n := map[byte]int{'x': 2, 'u': 4}[c]
		if i+n < len(code) {
			if v, err := strconv.ParseUint(code[i+1:i+1+n], 16, 32); err == nil {
				return string(rune(v)), i + n
			}
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		j := i
		for j < len(code) && j < i+3 && code[j] >= '0' && code[j] <= '7' {
			j++
		}
		if v, err := strconv.ParseUint(code[i:j], 8, 16); err == nil && v > 0 {
			return string(rune(v)), j - 1
		}
	}
	return code[i : i+1], i
}

// What code of other languages does to files and with what it gets from
// elsewhere; a net with wide meshes.
var (
	codeRemoves = pattern.Of(`(?i)rmtree|remove_?tree|rm(dir)?sync|\brm_r|rimraf|removeall|remove_dir_all|\bunlink|os\.remove|\.rm\s*\(|removesync|emptydirsync|\brmdir|remove-item|file\.delete|deltree|['"](/usr)?(/bin/)?rm['"]`)
	codeTrees   = pattern.Of(`(?i)rmtree|remove_?tree|rmsync|\brm_r|rimraf|removeall|remove_dir_all|recursive|rglob|walk|glob|readdir|listdir|find|['"]-[a-z]*r`)
	codeHome    = pattern.Of(`(?i)(homedir\s*\(\s*\)|path\.home\s*\(\s*\)|dir\.home|process\.env\.home\b|environ(\.get)?[\[(]\s*['"]home['"]\s*[\])]|env(\.fetch)?[\[{(]\s*['"]?home['"]?\s*[\]})]|getenv\(\s*['"]home['"]\s*\))\s*(.{0,12})`)
	codeFetches = pattern.Of(`(?i)urlopen|urllib|requests\.get|\bfetch\s*\(|https?\.get|lwp::|net::http|open-uri|file_get_contents\s*\(\s*['"]http|httpx\.|\buri\.(open|parse)|require\s*\(\s*['"](node:)?https?['"]|\bget\s*\(?\s*['"](https?|ftp):`)
	codeRuns    = pattern.Of(`(?:^|[^.\w])exec\s*\(|\beval\b|new Function|runInThisContext`)
)

// codeFloor says what in the code of another language a person must be asked
// about.
func codeFloor(code string, dirs []string, known homes) string {
	if codeFetches.MatchString(code) && codeRuns.MatchString(code) {
		return "code in the line runs what it gets from elsewhere"
	}
	if !codeRemoves.MatchString(code) {
		return ""
	}
	const why = "code in the line removes files of a directory of the system or of a home"
	for _, s := range quotedStrings(code) {
		if isAccountFile(path.Clean(s)) {
			return "code in the line removes " + Quote(s)
		}
		if (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") || strings.HasPrefix(s, "$")) && len(s) < 200 && known.isVital(s, dirs) {
			return why
		}
	}
	if !codeTrees.MatchString(code) {
		return ""
	}
	for _, m := range codeHome.Regexp().FindAllStringSubmatch(code, -1) {
		rest := strings.TrimLeft(m[len(m)-1], " )")
		if rest == "" || !strings.ContainsAny(rest[:1], "+/,.") || strings.HasPrefix(rest, ".rglob") || strings.HasPrefix(rest, ".iterdir") || strings.HasPrefix(rest, ".glob") || strings.HasPrefix(rest, ", {") || strings.HasPrefix(rest, ",{") {
			return why
		}
	}
	return ""
}
