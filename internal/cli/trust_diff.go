package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/text"
)

// trustDiff lists the settings that are others once the file counts.
func (c *command) trustDiff(file string, content []byte) ([]string, error) {
	opt, _, err := c.options()
	if err != nil {
		return nil, err
	}
	found, err := config.FindProject(filepath.Dir(file), c.home(), nil)
	counts := err == nil && found.Path == file // one of another account does not even tighten now
	opt.Project, opt.Outer = file, found.Outer
	same := true // what is shown is what will be trusted
	load := func(trusted bool) (*config.Loaded[settings.Config], error) {
		opt.Trusted = func(read []byte) bool {
			same = same && bytes.Equal(read, content)
			return trusted
		}
		loaded, err := config.Load(settings.Defaults(), opt)
		if err == nil && loaded.Trusted != trusted {
			same = false
		}
		return loaded, err
	}
	untrusted, err := load(false)
	if err != nil {
		return nil, badConfig{err}
	}
	before := untrusted
	if !counts {
		bare := opt
		bare.Project = ""
		if before, err = config.Load(settings.Defaults(), bare); err != nil {
			return nil, badConfig{err}
		}
	}
	after, err := load(true)
	if err != nil {
		return nil, badConfig{err}
	}
	if !same {
		return nil, &toolcrib.Error{Code: toolcrib.CodeConflict, Message: file + " changes while it is read; try again when it is left alone"}
	}
	rows, err := settingsDiff(before, after)
	if err != nil {
		return nil, err
	}
	return append(rows, c.trustRows(before, untrusted, after)...), nil
}

// trustRows lists what trust changes though the settings read the same: the rules of a
// project narrow before and allow afterwards, and its mode bounds every agent before.
func (c *command) trustRows(before, untrusted, after *config.Loaded[settings.Config]) (rows []string) {
	allows := func(key string, p settings.Permissions) {
		const means = ": from now on it allows, and no longer narrows what you allow"
		for _, rule := range p.Allow {
			rows = append(rows, key+".allow: "+rule+means)
		}
		for _, rule := range p.Rules {
			if rule.Decision == toolcrib.Allow.String() {
				rows = append(rows, key+".rules: "+rule.Tool+means)
			}
		}
	}
	allows("permissions", untrusted.Project.Permissions)
	for _, name := range slices.Sorted(maps.Keys(untrusted.Project.Agents)) {
		allows("agents."+name+".permissions", untrusted.Project.Agents[name].Permissions)
	}
	was, is := c.layers(before), c.layers(after)
	for _, name := range slices.Sorted(maps.Keys(after.Value.Agents)) {
		call := toolcrib.Call{Caller: toolcrib.Caller{Agent: name}}
		if was, is := was.Mode(call), is.Mode(call); was != is {
			rows = append(rows, fmt.Sprintf("agents.%s: its calls get mode %s, and mode %s from now on", name, was, is))
		}
	}
	return rows
}

// settingsDiff compares two configurations line by line, in the order of keys.
func settingsDiff(before, after *config.Loaded[settings.Config]) ([]string, error) {
	old, err := settingLines(before)
	if err != nil {
		return nil, err
	}
	now, err := settingLines(after)
	if err != nil {
		return nil, err
	}
	all := maps.Clone(old)
	maps.Copy(all, now)
	var rows []string
	for _, line := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		keyA, _, _ := strings.Cut(a, ": ")
		keyB, _, _ := strings.Cut(b, ": ")
		return cmp.Or(strings.Compare(keyA, keyB), cmp.Compare(sign(old[b]), sign(old[a])), strings.Compare(a, b))
	}) {
		switch {
		case !now[line]:
			rows = append(rows, "- "+line)
		case !old[line]:
			rows = append(rows, "+ "+line)
		}
	}
	// What is not shown can have changed all the same.
	for _, key := range slices.Sorted(maps.Keys(after.Origins)) {
		if after.Origins[key] != before.Origins[key] && now[key+": "+config.Hidden] && old[key+": "+config.Hidden] {
			rows = append(rows, "~ "+key+": another value, which is not shown")
		}
	}
	return rows, nil
}

// printables makes each row one line, whatever stands in it.
func printables(rows []string) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, text.ShowLine(r))
	}
	return out
}

func sign(b bool) int {
	if b {
		return 1
	}
	return 0
}

// settingLines writes settings as dotted keys with their values, a line for
// each entry of a list; what is empty has none.
func settingLines(l *config.Loaded[settings.Config]) (map[string]bool, error) {
	text, err := config.ShowJSON(l)
	if err != nil {
		return nil, err
	}
	var shown struct {
		Config map[string]any `json:"config"`
	}
	if err := json.Unmarshal(text, &shown); err != nil {
		return nil, err
	}
	out := map[string]bool{}
	flatten(out, "", shown.Config)
	return out, nil
}

func flatten(out map[string]bool, key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			flatten(out, strings.TrimPrefix(key+"."+name, "."), value)
		}
	case []any:
		if strings.HasSuffix(key, ".args") || strings.HasSuffix(key, ".command") { // what they do depends on their order
			if len(v) > 0 {
				flatten(out, key, fmt.Sprintf("%q", v))
			}
			return
		}
		for _, value := range v {
			if m, ok := value.(map[string]any); ok { // an entry with parts is one line
				maps.DeleteFunc(m, func(_ string, part any) bool { return part == "" || fmt.Sprint(part) == "[]" })
				text, err := json.Marshal(m)
				if err != nil {
					text = fmt.Append(nil, m)
				}
				value = string(text)
			}
			flatten(out, key, value)
		}
	case nil:
	default:
		if v != "" {
			out[fmt.Sprintf("%s: %v", key, v)] = true
		}
	}
}
