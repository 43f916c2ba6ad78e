package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// joinKey appends a name to a dotted key. A name that could be misread (a map entry may be called anything) is written
// as ["name"], so that every key has one spelling and splitKey gets back what went in.
func joinKey(parent, name string) string {
	if !plainName(name) {
		return parent + "[" + strconv.QuoteToASCII(name) + "]"
	}
	if parent == "" {
		return name
	}
	return parent + "." + name
}

// elementKey is the key of one element of a list.
func elementKey(list string, index int) string { return list + "[" + strconv.Itoa(index) + "]" }

// plainName reports whether a name can stand in a dotted key as it is.
func plainName(name string) bool {
	for _, r := range name {
		if r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return name != ""
}

// splitKey takes a dotted key apart.
func splitKey(key string) ([]string, error) {
	var names []string
	for rest := key; ; {
		if strings.HasPrefix(rest, "[") {
			quoted, err := strconv.QuotedPrefix(rest[1:])
			if err != nil || quoted[0] != '"' {
				return nil, fmt.Errorf("key %s: expected a quoted name after [", clip(key))
			}
			name, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, fmt.Errorf("key %s: %w", clip(key), err)
			}
			rest = rest[1+len(quoted):]
			if !strings.HasPrefix(rest, "]") {
				return nil, fmt.Errorf("key %s: expected ] after the quoted name", clip(key))
			}
			rest = rest[1:]
			names = append(names, name)
		} else {
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				return nil, errors.New("key " + clip(key) + ": a part of it is empty")
			}
			names = append(names, rest[:end])
			rest = rest[end:]
		}
		if rest == "" {
			return names, nil
		}
		if strings.HasPrefix(rest, ".") && !strings.HasPrefix(rest, ".[") {
			rest = rest[1:]
		} else if !strings.HasPrefix(rest, "[") {
			return nil, fmt.Errorf("key %s: expected . or [ before %s", clip(key), clip(rest))
		}
	}
}
