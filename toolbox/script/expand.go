package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/toolfile"
)

// Bounds of what the kernel takes with a program: Linux has 128 KiB for one word with its end, and all words and variables
// share a part of the stack.
const (
	maxWord    = 128<<10 - 1
	maxWords   = 1 << 20
	maxWindows = 30_000
)

// values are the arguments of a call as they were sent, with their defaults.
type values map[string]json.RawMessage

func readValues(input json.RawMessage) (values, error) {
	v := values{}
	if err := json.Unmarshal(input, &v); err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	for name, value := range v {
		if string(value) == "null" {
			delete(v, name) // nothing is what is absent
		}
	}
	return v, nil
}

// text is a value as a program gets it: a string as it is, everything else as JSON. A whole number has no point and no
// exponent, however it was sent: to JSON 3.0 is an integer, and to most programs it is none.
func text(value json.RawMessage) (s string, isText bool) {
	if len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil {
		return s, true
	}
	if f, err := strconv.ParseFloat(string(value), 64); err == nil && bytes.ContainsAny(value, ".eE") && f == float64(int64(f)) && max(f, -f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10), false
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return string(value), false
	}
	return b.String(), false
}

// elements are those of an array; ok is false for everything else.
func elements(value json.RawMessage) (list []json.RawMessage, ok bool) {
	if len(value) == 0 || value[0] != '[' {
		return nil, false
	}
	return list, json.Unmarshal(value, &list) == nil
}

// line is the program and its arguments for a call. The index of the script itself is self, -1 if it is not among them.
func line(f *toolfile.File, v values) (words []string, self int, err error) {
	self = -1
	if len(f.Command) == 0 {
		return positional(f, v)
	}
	open := true // a value can still be taken for an option of the program
	for _, element := range f.Command {
		var part []string
		at, left := -1, false
		for _, word := range element {
			if word.IsSelf() && f.Kind == toolfile.Script {
				at = len(words) + len(part)
				part = append(part, toolfile.Self)
				continue
			}
			made, there, err := expand(f, word, v, open)
			if err != nil {
				return nil, -1, err
			}
			if left = left || !there; left {
				break
			}
			part = append(part, made...)
		}
		if left {
			continue // it stands or goes as a whole
		}
		if at >= 0 {
			self, open = at, false // what follows is for the person's own script
		}
		if len(element) == 1 && len(element[0]) == 1 && element[0][0].Arg == "" && element[0][0].Text == "--" && f.Ends() {
			open = false
		}
		words = append(words, part...)
	}
	return words, self, fits(words)
}

// positional are the arguments of a script in the order in which it declares them. One that is absent is an empty word, so
// that each has its number; an array that comes last gives a word for each of its elements.
func positional(f *toolfile.File, v values) (words []string, self int, err error) {
	words = []string{toolfile.Self}
	if f.Stdin.JSON {
		return words, 0, nil
	}
	for i, arg := range f.Args {
		value, there := v[arg.Name]
		if list, ok := elements(value); ok && i == len(f.Args)-1 {
			for _, e := range list {
				s, _ := text(e)
				words = append(words, s)
			}
			continue
		}
		s := ""
		if there {
			s, _ = text(value)
		}
		words = append(words, s)
	}
	return words, 0, fits(words)
}

// expand makes the words of one word: one, or with an array one for each of its elements. It is not there if one of its
// arguments is absent, an array is empty, or a {name:text} is not true.
func expand(f *toolfile.File, word toolfile.Word, v values, open bool) (made []string, there bool, err error) {
	var list []json.RawMessage
	many := ""
	for _, p := range word {
		if p.Arg == "" {
			continue
		}
		value, given := v[p.Arg]
		if !given || p.When && string(value) != "true" {
			return nil, false, nil
		}
		if items, ok := elements(value); ok {
			if list, many = items, p.Arg; len(items) == 0 {
				return nil, false, nil
			}
		}
	}
	if many == "" {
		s, err := join(f, word, v, open)
		return []string{s}, true, err
	}
	for _, item := range list {
		one := maps.Clone(v)
		one[many] = item
		s, err := join(f, word, one, open)
		if err != nil {
			return nil, false, err
		}
		made = append(made, s)
	}
	return made, true, nil
}

// join puts the pieces of a word together.
func join(f *toolfile.File, word toolfile.Word, v values, open bool) (string, error) {
	var b strings.Builder
	for _, p := range word {
		s, isText := p.Text, false
		if p.Arg != "" && !p.When {
			s, isText = text(v[p.Arg])
		}
		if arg, _ := f.Arg(p.Arg); open && isText && !arg.Options && b.Len() == 0 && strings.HasPrefix(s, "-") {
			return "", invalid("%s begins with a dash, and the program would take it for an option: give it in another form, such as ./%s for a file (its author allows it by options: true, or by \"--\" before it)", p.Arg, clip(s))
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// fits refuses what no program can be given.
func fits(words []string) error {
	total := 0
	for i, w := range words {
		if strings.ContainsRune(w, 0) {
			return invalid("a NUL character cannot be part of an argument of a program")
		}
		if len(w) > maxWord {
			return invalid("word %d of the command would have %d bytes, and the system takes at most %d: the tool has to take it on its standard input (stdin: json)", i, len(w), maxWord)
		}
		total += len(w) + 1
	}
	most := maxWords
	if runtime.GOOS == "windows" {
		most = maxWindows
	}
	if total > most {
		return invalid("the command would have %d bytes, and the system takes at most %d: the tool has to take it on its standard input (stdin: json)", total, most)
	}
	return nil
}

// input is what the program reads.
func input(f *toolfile.File, v values, sent json.RawMessage) (string, bool) {
	if f.Stdin.JSON {
		return string(sent), true
	}
	if f.Stdin.Text == nil {
		return "", false
	}
	var b strings.Builder
	for _, p := range f.Stdin.Text {
		switch {
		case p.Arg == "":
			b.WriteString(p.Text)
		case p.When:
			if string(v[p.Arg]) == "true" {
				b.WriteString(p.Text)
			}
		default:
			if value, ok := v[p.Arg]; ok {
				s, _ := text(value)
				b.WriteString(s)
			}
		}
	}
	return b.String(), true
}

func invalid(format string, args ...any) error {
	return &toolcrib.Error{Code: toolcrib.CodeInvalid, Message: fmt.Sprintf(format, args...)}
}

func clip(s string) string {
	const most = 40
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
