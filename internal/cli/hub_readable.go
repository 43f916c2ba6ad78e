package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/internal/text"
)

// showHeld shows one definition that is kept back, and what of it is new.
func (c *command) showHeld(tool, why string, was, is json.RawMessage) {
	fmt.Fprintf(c.out, "\nKept back: %s: %s\n", text.ShowLine(tool), text.ShowLine(why))
	for _, line := range changes(was, is) {
		fmt.Fprintln(c.out, text.ShowLine(line))
	}
}

// changes shows what went and what came of a definition, in lines that people read.
// Two definitions that read the same are shown as what they are.
func changes(was, is json.RawMessage) []string {
	before, okBefore := readable(was)
	after, okAfter := readable(is)
	if okBefore && okAfter && len(before) <= linesMost && len(after) <= linesMost {
		if out := difference(before, after); len(out) > 0 {
			return out
		}
	}
	return difference(definitionLines(was), definitionLines(is))
}

// readable writes a definition with a value to a line, behind the way to it; a text
// has a line for each of its own lines and sentences. Nothing is left out.
func readable(definition json.RawMessage) (lines []string, ok bool) {
	if definition == nil {
		return nil, true
	}
	dec := json.NewDecoder(bytes.NewReader(definition))
	dec.UseNumber()
	var value any
	if dec.Decode(&value) != nil {
		return nil, false
	}
	var walk func(way string, value any)
	walk = func(way string, value any) {
		switch v := value.(type) {
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				walk(wayTo(way, key), v[key])
			}
			if len(v) == 0 {
				lines = append(lines, way+" = {}")
			}
		case []any:
			for i, item := range v {
				walk(fmt.Sprintf("%s[%d]", way, i), item)
			}
			if len(v) == 0 {
				lines = append(lines, way+" = []")
			}
		case string:
			for _, part := range sentences(v) {
				lines = append(lines, way+": "+part)
			}
		default:
			lines = append(lines, way+" = "+fmt.Sprint(v))
		}
	}
	walk("", value)
	return lines, true
}

// wayTo names a member. The arguments of a tool, which are most of it, are called so.
func wayTo(way, key string) string {
	plain := func(r rune) bool {
		return r != '_' && r != '-' && r != '$' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}
	if key == "" || strings.ContainsFunc(key, plain) {
		key = strconv.Quote(key)
	}
	switch {
	case way == "":
		return key
	case way == "inputSchema.properties":
		return "argument " + key
	}
	return way + "." + key
}

// sentences cuts a text at the ends of lines and of sentences, so that a change is
// shown as the sentence that changed.
func sentences(s string) []string {
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		for {
			end := strings.Index(line, ". ")
			if end < 0 {
				break
			}
			out = append(out, line[:end+1])
			line = line[end+2:]
		}
		out = append(out, line)
	}
	return out
}

// difference shows two lists of lines: what went, and what came.
func difference(before, after []string) []string {
	// The longest common lines, from the ends to the beginnings.
	longest := make([][]int, len(before)+1)
	for i := range longest {
		longest[i] = make([]int, len(after)+1)
	}
	for i, line := range slices.Backward(before) {
		for j, other := range slices.Backward(after) {
			if line == other {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < len(before) || j < len(after) {
		switch {
		case i < len(before) && j < len(after) && before[i] == after[j]:
			i, j = i+1, j+1
		case j == len(after) || i < len(before) && longest[i+1][j] >= longest[i][j+1]:
			out = append(out, "- "+before[i])
			i++
		default:
			out = append(out, "+ "+after[j])
			j++
		}
	}
	return out
}

// linesMost bounds how long a definition is compared line by line; a longer one
// is one line.
const linesMost = 3000

// definitionLines writes a definition as JSON with a member to a line, numbers as
// they are.
func definitionLines(text json.RawMessage) []string {
	if text == nil {
		return nil
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, text, "", "  ") != nil || bytes.Count(pretty.Bytes(), []byte("\n")) > linesMost {
		return []string{string(text)}
	}
	return strings.Split(pretty.String(), "\n")
}
