package cli

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/text"
)

// argumentWords offers the arguments of a tool that were not given yet, and the values
// of one that has only a few. Other values are left to the shell, which knows files.
func (c *command) argumentWords(cmd *cobra.Command, dialectName string, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	was := c.err
	c.err = io.Discard // a shell would show warnings in the middle of a line
	defer func() { c.err = was }()
	a, caller, err := c.shelf(cmd, dialectName)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var in shape
	for s := range a.Crib.Tools(caller) {
		if s.Name == args[0] && json.Unmarshal(s.Input, &in) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
	}
	if key, value, ok := strings.Cut(begun, "="); ok {
		words := offeredValues(in.Properties[key], key, value)
		if words == nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		return words, cobra.ShellCompDirectiveNoFileComp
	}
	names := slices.SortedFunc(maps.Keys(in.Properties), func(a, b string) int {
		if must := slices.Contains(in.Required, a); must != slices.Contains(in.Required, b) {
			if must {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	var words []string
	for _, name := range names {
		given := slices.ContainsFunc(args[1:], func(arg string) bool { return strings.HasPrefix(arg, name+"=") })
		if !given && strings.HasPrefix(name, begun) && text.ShowLine(name) == name {
			words = append(words, name+"=\t"+text.ShowLine(firstSentence(in.Properties[name].Description)))
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveKeepOrder
}

// offeredValues are the values that an argument can have; nil: there is no list of them.
func offeredValues(p property, key, begun string) (words []string) {
	values := p.values()
	if p.kinds() == "boolean" {
		values = []json.RawMessage{json.RawMessage("true"), json.RawMessage("false")}
	}
	for _, v := range values {
		word := string(v)
		var plain string
		if json.Unmarshal(v, &plain) == nil {
			word = plain
		}
		if strings.HasPrefix(word, begun) && text.ShowLine(word) == word {
			words = append(words, key+"="+word)
		}
	}
	return words
}
