package account

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Plain writes a value for a person: texts as they are, objects as names and values, lists
// one to a line.
func Plain(value json.RawMessage) string {
	var b strings.Builder
	plain(&b, value, "", 0)
	return b.String()
}

// mostDeep is how far into a value it is written out; deeper it stays JSON.
const mostDeep = 4

func plain(b *strings.Builder, value json.RawMessage, indent string, deep int) {
	if fields := fieldsOf(value); fields != nil && deep < mostDeep {
		for _, f := range fields {
			named(b, f, indent, deep)
		}
		return
	}
	var items []json.RawMessage
	if json.Unmarshal(value, &items) == nil && items != nil && deep < mostDeep {
		for _, item := range items {
			if short(item) {
				fmt.Fprintf(b, "%s- %s\n", indent, rawText(item))
				continue
			}
			fmt.Fprintf(b, "%s-\n", indent)
			plain(b, item, indent+"  ", deep+1)
		}
		return
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(rawText(value), "\n"), "\n") {
		b.WriteString(indent + line + "\n")
	}
}

func named(b *strings.Builder, f field, indent string, deep int) {
	if short(f.value) {
		b.WriteString(strings.TrimRight(indent+f.name+": "+rawText(f.value), " ") + "\n")
		return
	}
	b.WriteString(indent + f.name + ":\n")
	plain(b, f.value, indent+"  ", deep+1)
}

// short reports whether a value fits behind its name: a text of one line, a number, nothing.
func short(value json.RawMessage) bool {
	trimmed := strings.TrimSpace(string(value))
	if trimmed == "" || trimmed == "{}" || trimmed == "[]" {
		return true
	}
	return trimmed[0] != '{' && trimmed[0] != '[' && !strings.Contains(rawText(value), "\n")
}
