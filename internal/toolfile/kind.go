package toolfile

import (
	"path/filepath"
	"strings"
)

// Kind is what a file in a folder of tools is.
type Kind uint8

// The kinds. None is a file that declares nothing: a README, a backup, data, a script without a header.
const (
	None    Kind = iota
	Command      // NAME.yaml: a command
	Script       // a script with a header: itself
	Python       // a .py file of functions
	Node         // a .js or .mjs file of functions
)

func (k Kind) String() string {
	return [...]string{"none", "command", "script", "python", "node"}[k]
}

// KindOf tells what a file is by its name and, where that does not say it, by its header. The x bit is not asked for: a
// script with a header and without it is a mistake that is worth a word.
func KindOf(path string, content []byte) Kind {
	name := filepath.Base(path)
	if skipped(name) {
		return None
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return Command
	case ".py":
		return Python
	case ".js", ".mjs":
		return Node
	case ".md", ".txt", ".json", ".toml":
		return None
	}
	if _, ok := findHeader(content); ok {
		return Script
	}
	return None
}

// skipped: hidden files, and what editors leave beside the file that they write.
func skipped(name string) bool {
	for _, end := range []string{"~", ".bak", ".orig", ".rej", ".swp", ".swo", ".tmp", ".part"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return name == "" || name[0] == '.' || name[0] == '#' || strings.HasPrefix(name, "__")
}

const (
	headerLines = 60  // where a header begins at the latest
	headerMost  = 400 // lines that it has at most
)

// header is the declaration in a comment.
type header struct {
	text   []byte // YAML
	line   int    // the line of the file in which the first line of text stands
	column int    // columns that were taken off before text
	inline string // what stands behind the colon in the first line, where nothing should
}

// findHeader finds the comment that begins with "# toolcrib:" or "// toolcrib:".
func findHeader(content []byte) (header, bool) {
	rest := string(content[:min(len(content), 256<<10)])
	for n := 1; n <= headerLines && rest != ""; n++ {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		sign, after, ok := comment(line)
		if !ok {
			continue
		}
		tail, ok := strings.CutPrefix(strings.TrimLeft(after, " \t"), "toolcrib:")
		if !ok {
			continue
		}
		h := header{line: n + 1, column: len(sign), inline: strings.TrimSpace(tail)}
		var b strings.Builder
		for range headerMost {
			line, rest, _ = strings.Cut(rest, "\n")
			s, body, ok := comment(line)
			if !ok || s != sign {
				break
			}
			b.WriteString(strings.TrimRight(body, " \t\r"))
			b.WriteByte('\n')
		}
		h.text = []byte(b.String())
		return h, true
	}
	return header{}, false
}

// comment takes the sign of a comment off a line.
func comment(line string) (sign, body string, ok bool) {
	line = strings.TrimLeft(strings.TrimPrefix(line, "\uFEFF"), " \t")
	for _, sign := range []string{"#", "//"} {
		if body, ok := strings.CutPrefix(line, sign); ok {
			return sign, body, true
		}
	}
	return "", "", false
}

// fromFunctions are the keys that a file of functions has no use for, because its functions say it.
func fromFunctions(key string) string {
	switch key {
	case "name":
		return "the toolbox is called like the file, and each tool like its function: rename those"
	case "title", "description":
		return "a model reads what the functions say of themselves (docstrings, JSDoc): write it there"
	case "args", "schema", "result":
		return "it comes from the functions: declare it there, with type hints or JSDoc"
	}
	return ""
}
