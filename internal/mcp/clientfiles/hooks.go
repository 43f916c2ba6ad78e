package clientfiles

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Hook is a program that a client starts before or after each of its own tools.
type Hook struct {
	Event   string
	Command string // as its shell reads it
	Seconds int    // how long it may take
}

// hookMark is the name that our hooks have in the files of clients, by which they
// are found again.
const hookMark = "Toolcrib"

// HookEvents are the events of a client before a tool and after it. False: it has
// no hooks that are known here.
func HookEvents(client string) (before, after []string, ok bool) {
	switch client {
	case ClaudeCode:
		return []string{"PreToolUse"}, []string{"PostToolUse", "PostToolUseFailure"}, true
	case Codex:
		return []string{"PreToolUse"}, []string{"PostToolUse"}, true
	case Gemini:
		return []string{"BeforeTool"}, []string{"AfterTool"}, true
	}
	return nil, nil, false
}

// HookFile is where a client keeps its hooks: the person's own, or, with the
// directory of a project, those of the project. The one of Claude Code is the file
// that is not shared with others, since it names a program of this machine.
func HookFile(client, home string, env func(string) string, project string) string {
	dir := func(variable, name string) string {
		if project != "" {
			return filepath.Join(project, name)
		}
		if set := env(variable); set != "" {
			return set
		}
		return filepath.Join(home, name)
	}
	switch client {
	case ClaudeCode:
		if project != "" {
			return filepath.Join(project, ".claude", "settings.local.json")
		}
		return filepath.Join(dir("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")
	case Codex:
		return filepath.Join(dir("CODEX_HOME", ".codex"), "hooks.json")
	case Gemini:
		return filepath.Join(dir("", ".gemini"), "settings.json")
	}
	return ""
}

// AddHooks puts hooks of ours into the text of a client's file, in the place of
// those that are there, and leaves every other byte as it is. If they are there as
// asked, the text comes back unchanged.
func AddHooks(client string, text []byte, hooks []Hook) ([]byte, error) {
	out, err := editHooks(client, text, hooks)
	if err != nil {
		return nil, fmt.Errorf("adding hooks to %s: %w", Title(client), err)
	}
	return out, nil
}

// RemoveHooks takes them out again.
func RemoveHooks(client string, text []byte) ([]byte, error) {
	out, err := editHooks(client, text, nil)
	if err != nil {
		return nil, fmt.Errorf("removing hooks from %s: %w", Title(client), err)
	}
	return out, nil
}

func editHooks(client string, text []byte, hooks []Hook) ([]byte, error) {
	if _, _, ok := HookEvents(client); !ok {
		return nil, errors.New("no hooks of it are known here")
	}
	if len(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(byteOrderMark)))) == 0 {
		if len(hooks) == 0 {
			return text, nil
		}
		text = []byte("{}\n")
	}
	root, err := hookRoot(text)
	if err != nil {
		return nil, err
	}
	if len(hooks) > 0 && hooksAsWanted(client, root, hooks) {
		return text, nil
	}
	out := text
	for {
		next, more, err := removeOneHook(client, out)
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		out = next
	}
	for _, h := range hooks {
		if out, err = addOneHook(client, out, h); err != nil {
			return nil, err
		}
	}
	after, err := hookRoot(out)
	if err != nil || !withoutHooks(client, after).equal(withoutHooks(client, root), true) || len(hooks) > 0 && !hooksAsWanted(client, after, hooks) {
		return nil, errors.New("the file is written in a way that cannot be changed here without touching the rest: do it by hand")
	}
	return out, nil
}

func hookRoot(text []byte) (value, error) {
	root, twice, err := parseJSONC(text)
	switch {
	case err != nil:
		return value{}, fmt.Errorf("the file cannot be read, so it is left alone (%w): correct it first", err)
	case root.kind != kindTable:
		return value{}, fmt.Errorf("the file holds %s, not a table of settings, so it is left alone", root.kind)
	case slices.ContainsFunc(twice, func(f field) bool { return f.name == "hooks" }):
		return value{}, errTwice
	}
	if hooks, ok := root.get("hooks"); ok && hooks.kind != kindTable {
		return value{}, fmt.Errorf("the key hooks holds %s, so the file is left alone", hooks.kind)
	}
	return root, nil
}

// hookGroup is a hook as the file has it.
func hookGroup(client string, h Hook) value {
	var run, group value
	run.put("type", textValue("command"))
	run.put("command", textValue(h.Command))
	if client == Gemini {
		run.put("name", textValue(hookMark))
		run.put("timeout", intValue(int64(h.Seconds)*1000))
	} else {
		run.put("timeout", intValue(int64(h.Seconds)))
		run.put("statusMessage", textValue(hookMark))
	}
	group.put("matcher", textValue("*"))
	group.put("hooks", value{kind: kindList, list: []value{run}})
	return group
}

// isOurHook: all that the group starts is ours.
func isOurHook(client string, group value) bool {
	list, _ := group.get("hooks")
	if len(list.list) == 0 {
		return false
	}
	for _, run := range list.list {
		command, _ := run.get("command")
		name, _ := run.get("name")
		status, _ := run.get("statusMessage")
		if name.text != hookMark && status.text != hookMark || !strings.Contains(command.text, " hook "+client) {
			return false
		}
	}
	return true
}

func hooksAsWanted(client string, root value, hooks []Hook) bool {
	n := 0
	for _, groups := range hookLists(root) {
		for _, g := range groups.value.list {
			if !isOurHook(client, g) {
				continue
			}
			n++
			if !slices.ContainsFunc(hooks, func(h Hook) bool { return h.Event == groups.name && hookGroup(client, h).equal(g, false) }) {
				return false
			}
		}
	}
	return n == len(hooks)
}

// hookLists are the events that have a list of groups.
func hookLists(root value) []field {
	hooks, _ := root.get("hooks")
	return slices.DeleteFunc(slices.Clone(hooks.fields), func(f field) bool { return f.value.kind != kindList })
}

// withoutHooks is what the file says besides, to compare.
func withoutHooks(client string, root value) value {
	root.fields = slices.Clone(root.fields)
	i := root.index("hooks")
	if i < 0 {
		return root
	}
	hooks := root.fields[i].value
	hooks.fields = slices.Clone(hooks.fields)
	for j := range hooks.fields {
		if l := &hooks.fields[j].value; l.kind == kindList {
			l.list = slices.DeleteFunc(slices.Clone(l.list), func(g value) bool { return isOurHook(client, g) })
		}
	}
	hooks.fields = slices.DeleteFunc(hooks.fields, func(f field) bool { return f.value.kind == kindList && len(f.value.list) == 0 })
	if root.fields[i].value = hooks; len(hooks.fields) == 0 {
		root.fields = slices.Delete(root.fields, i, i+1)
	}
	return root
}
