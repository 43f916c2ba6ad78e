package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// SetWord writes one setting whose value is a word, such as model, into the text of a
// file of settings: in place of the one that is there, or as its last line. As with
// SetEntry the rest stays as it is, and the result is read again.
func SetWord(text []byte, key, word string) ([]byte, error) {
	before, err := topLevel(text)
	if err != nil {
		return nil, err
	}
	var at, was *yaml.Node
	if before != nil {
		at, was = entryIn(before, key)
	}
	lines, end := splitLines(text), lineEnd(text)
	put := key + ": " + word
	switch {
	case at == nil:
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			lines[n-1] += end
		}
		lines = append(lines, put+end)
	case was.Kind != yaml.ScalarNode || was.Line != at.Line || at.Line > len(lines):
		return nil, fmt.Errorf("%s is written in a way that cannot be changed here, so the file is left as it is: change it by hand", key)
	default:
		if was.LineComment != "" {
			put += " " + was.LineComment
		}
		lines[at.Line-1] = put + end
	}
	out := []byte(strings.Join(lines, ""))
	after, err := topLevel(out)
	if err != nil {
		return nil, fmt.Errorf("the change would break the file, so it was not made: %w", err)
	}
	if !changedOnly(before, after, key, word) {
		return nil, errors.New("the file is written in a way that cannot be changed here without touching the rest, so it is left as it is: change it by hand")
	}
	return out, nil
}

// changedOnly reports whether the key has the word after a change, and all else is as it
// was before.
func changedOnly(before, after *yaml.Node, key, word string) bool {
	if after == nil {
		return false
	}
	without := func(root *yaml.Node) (rest []*yaml.Node) {
		if root == nil {
			return nil
		}
		at, _ := entryIn(root, key)
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i] != at {
				rest = append(rest, root.Content[i], root.Content[i+1])
			}
		}
		return rest
	}
	_, now := entryIn(after, key)
	return now != nil && now.Kind == yaml.ScalarNode && now.ShortTag() == "!!str" && now.Value == word && slices.EqualFunc(without(before), without(after), same)
}
