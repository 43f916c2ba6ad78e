package node

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/toolbox/skill"
)

// taking is what a mycroft.conf gives for settings that are unset in ours, as it is put
// together.
type taking struct {
	unset func(key string) bool
	list  []Taken
}

func (t *taking) take(key, value, from string) {
	if t.unset(key) {
		t.list = append(t.list, Taken{Key: key, Value: value, From: from})
	}
}

func (t *taking) leave(key, from, why string) {
	t.list = append(t.list, Taken{Key: key, From: from, Left: why})
}

// some takes those of a list that ok says nothing against, and tells of the others.
func (t *taking) some(key string, values []string, from string, ok func(value string) error) (taken int) {
	if !t.unset(key) {
		return len(values)
	}
	var good []string
	for _, v := range values {
		if err := ok(v); err != nil {
			t.leave(key, from, fmt.Sprintf("%q: %v", v, err))
			continue
		}
		good = append(good, v)
	}
	if len(good) > 0 {
		t.take(key, strings.Join(good, ","), from)
	}
	return len(good)
}

// boxes takes what the plugin that serves toolboxes is told. If it is switched off,
// nothing that is told to it counts.
func (t *taking) boxes(m host.Mycroft) {
	if m.Disabled {
		if len(m.Boxes) > 0 {
			t.leave("toolboxes", "ovos-phal-plugin-tools", "enabled is not true, so the settings of its toolboxes are not taken")
		}
		return
	}
	t.switches(m)
	t.files(m.Boxes[dialect.OVOSBox("files")])
	t.shell(m.Boxes[dialect.OVOSBox("shell")])
	t.skills(m.Boxes[dialect.OVOSBox("skill")])
}

// switches takes whether boxes are served. Commands need more than that.
func (t *taking) switches(m host.Mycroft) {
	for _, box := range []string{"clock", "files", "math", "shell", "skill", "web"} {
		id := dialect.OVOSBox(box)
		switch on := m.Boxes[id].Enabled; {
		case on == nil, box == "shell" && *on:
		case box == "shell":
			t.take("toolboxes.shell.allow_shell", "false", id+".enabled")
		default:
			t.take("toolboxes."+box+".enabled", strconv.FormatBool(*on), id+".enabled")
		}
	}
}

func (t *taking) files(box host.MycroftBox) {
	if box.RootPath == nil && box.AllowWrite == nil || !t.unset("grant.write") || !t.unset("grant.read") {
		return
	}
	from := dialect.OVOSBox("files") + ".root_path and allow_write"
	root, write := ".", box.AllowWrite == nil || *box.AllowWrite // as they are where nothing is said
	if box.RootPath != nil && *box.RootPath != "" {
		root = *box.RootPath
	}
	if !write {
		t.take("grant.write", "", from)
		t.some("grant.read", []string{root}, from, single)
		return
	}
	t.some("grant.write", []string{root}, from, single)
}

// single: settings of many values are written with commas between them.
func single(value string) error {
	if strings.Contains(value, ",") || strings.TrimSpace(value) == "" {
		return fmt.Errorf("it cannot be taken over; write the setting into your configuration")
	}
	return nil
}

// shell takes what commands may do. A list of commands means these commands and no
// others, there and here; where one of them cannot be taken the others still are.
func (t *taking) shell(box host.MycroftBox) {
	id := dialect.OVOSBox("shell")
	from := id + ".allowed_commands"
	runs := box.AllowShell
	if len(box.AllowedCommands) > 0 {
		const only, allowed = "toolboxes.shell.only_commands", "toolboxes.shell.allowed_commands"
		switch {
		case t.unset(only) && !t.unset(allowed):
			t.leave(only, from, allowed+" is set in your configuration. It says which commands run without asking; set "+only+" there to let no others run")
		case t.some(only, box.AllowedCommands, from, command) == 0:
			runs = new(false) // no list at all would allow more than this one
		}
	}
	if runs != nil && (box.Enabled == nil || *box.Enabled) {
		t.take("toolboxes.shell.allow_shell", strconv.FormatBool(*runs), id+".allow_shell")
	}
	if box.MaxTimeout != nil {
		t.take("toolboxes.shell.max_timeout", max(*box.MaxTimeout, time.Second).String(), id+".max_timeout")
	}
}

// command: the words that a command begins with. There it is any text that a line
// begins with, so that ls means lsblk and "ls; rm" too; here it is whole words.
func command(text string) error {
	if err := single(text); err != nil {
		return err
	}
	if strings.HasPrefix(strings.TrimSpace(text), "=") || strings.ContainsAny(text, "*?[]{}()<>|&;$`'\"\\\n\r#!~") {
		return fmt.Errorf("only plain words can begin a command here")
	}
	_, err := shellguard.ParseRules(settings.Prefixes([]string{text}))
	return err
}

// skills takes files of skills. They are files there; a directory would be more here
// than it is there.
func (t *taking) skills(box host.MycroftBox) {
	if len(box.ExtraSkillMDPaths) == 0 {
		return
	}
	t.some("toolboxes.skill.paths", box.ExtraSkillMDPaths, dialect.OVOSBox("skill")+".extra_skill_md_paths", func(path string) error {
		if !skill.IsFile(path) {
			return fmt.Errorf("it does not end in .md")
		}
		return single(path)
	})
}

// unserved lists the toolboxes that a mycroft.conf tells something and that are not
// among those with these ids. A toolbox may be told by its entry point, which is
// seldom written otherwise than its id.
func unserved(sections []string, ids []string) []string {
	plain := func(id string) string { return strings.ReplaceAll(strings.ToLower(id), "_", "-") }
	served := map[string]bool{}
	for _, id := range ids {
		served[plain(id)] = true
	}
	left := slices.DeleteFunc(slices.Clone(sections), func(id string) bool { return served[plain(id)] })
	slices.Sort(left)
	return left
}
