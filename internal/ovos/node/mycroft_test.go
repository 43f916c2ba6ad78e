package node

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/settings"
)

func TestFromMycroft(t *testing.T) {
	const tools = `{"PHAL": {"ovos-phal-plugin-tools": {`
	for name, c := range map[string]struct {
		text string
		set  []string // what our own settings say
		want []string
	}{
		"nothing":       {text: `{}`},
		"nothing of it": {text: `{"lang": "pt-pt", "websocket": {}}`},
		"the bus": {
			text: `{"websocket": {"host": "0.0.0.0", "port": 8182, "route": "/bus", "ssl": true, "max_msg_size": 10}}`,
			want: []string{"bus.url=wss://127.0.0.1:8182/bus", "bus.max_message=10485760"},
		},
		"a bus of our own settings": {
			text: `{"websocket": {"port": 8182, "max_msg_size": 10}}`, set: []string{"bus.url", "bus.max_message"},
		},
		"sizes beyond reason": {text: `{"websocket": {"max_msg_size": 1e9}}`, want: []string{"bus.max_message=268435456"}},
		"no size at all":      {text: `{"websocket": {"max_msg_size": -1}}`, want: []string{"bus.max_message=65536"}},
		"a directory":         {text: tools + `"ovos-filesystem-tools": {"root_path": "/srv/voice"}}}}`, want: []string{"grant.write=/srv/voice"}},
		"a directory to read": {
			text: tools + `"ovos-filesystem-tools": {"root_path": "/srv/voice", "allow_write": false}}}}`,
			want: []string{"grant.write=", "grant.read=/srv/voice"},
		},
		"only reading": {text: tools + `"ovos-filesystem-tools": {"allow_write": false}}}}`, want: []string{"grant.write=", "grant.read=."}},
		"our own grant for reading": {
			text: tools + `"ovos-filesystem-tools": {"root_path": "/srv/voice"}}}}`, set: []string{"grant.read"},
		},
		"a directory with a comma": {
			text: tools + `"ovos-filesystem-tools": {"root_path": "/srv/a,/etc"}}}}`,
			want: []string{"grant.write left"},
		},
		"commands": {
			text: tools + `"ovos-shell-tools": {"allow_shell": true, "max_timeout": 0.5, "allowed_commands": ["ls", "git status"]}}}}`,
			want: []string{"toolboxes.shell.only_commands=ls,git status", "toolboxes.shell.allow_shell=true", "toolboxes.shell.max_timeout=1s"},
		},
		"an empty list is none": {text: tools + `"ovos-shell-tools": {"allow_shell": true, "allowed_commands": []}}}}`, want: []string{"toolboxes.shell.allow_shell=true"}},
		"a command with a comma": {
			text: tools + `"ovos-shell-tools": {"allowed_commands": ["ls", "echo a,rm"]}}}}`,
			want: []string{"toolboxes.shell.only_commands left", "toolboxes.shell.only_commands=ls"},
		},
		"commands that are none": {
			text: tools + `"ovos-shell-tools": {"allow_shell": true, "allowed_commands": ["", "ls; rm", "=git", "l*", "sh"]}}}}`,
			want: []string{
				"toolboxes.shell.only_commands left", "toolboxes.shell.only_commands left", "toolboxes.shell.only_commands left", "toolboxes.shell.only_commands left",
				"toolboxes.shell.only_commands left", "toolboxes.shell.allow_shell=false",
			},
		},
		"commands of our own": {
			text: tools + `"ovos-shell-tools": {"allow_shell": true, "allowed_commands": ["ls"]}}}}`, set: []string{"toolboxes.shell.allowed_commands"},
			want: []string{"toolboxes.shell.only_commands left", "toolboxes.shell.allow_shell=true"},
		},
		"boxes that are off": {
			text: tools + `"ovos-clock-tools": {"enabled": false}, "ovos-math-tools": {"enabled": false}, "ovos-filesystem-tools": {"enabled": false},
				"ovos-shell-tools": {"enabled": false, "allow_shell": true}, "ovos-web-search-tools": {"enabled": true}, "ovos-skill-md-toolbox": {"enabled": false}}}}`,
			want: []string{
				"toolboxes.clock.enabled=false", "toolboxes.files.enabled=false", "toolboxes.math.enabled=false", "toolboxes.shell.allow_shell=false",
				"toolboxes.skill.enabled=false", "toolboxes.web.enabled=true",
			},
		},
		"a plugin that is off": {
			text: tools + `"enabled": false, "ovos-shell-tools": {"allow_shell": true}}}, "lang": "de-de"}`,
			want: []string{"bus.lang=de-de", "toolboxes left"},
		},
		"a plugin that this program stands in for": {
			text: tools + `"enabled": false, "served_by": "toolcrib", "ovos-shell-tools": {"allow_shell": true}}}}`,
			want: []string{"toolboxes.shell.allow_shell=true"},
		},
		"commands that ours forbid": {
			text: tools + `"ovos-shell-tools": {"allow_shell": true, "allowed_commands": ["ls"]}}}}`,
			set:  []string{"toolboxes.shell.allow_shell", "toolboxes.shell.allowed_commands", "toolboxes.shell.only_commands"},
		},
	} {
		m, err := host.ReadMycroft([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		ours := map[string]bool{}
		for _, key := range c.set {
			ours[key] = true
		}
		var got []string
		for _, taken := range fromMycroft(m, func(key string) bool { return !ours[key] }) {
			if taken.Left != "" {
				got = append(got, taken.Key+" left")
				continue
			}
			got = append(got, taken.Key+"="+taken.Value)
			if taken.From == "" {
				t.Errorf("%s: %s does not say where it is from", name, taken.Key)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestMycroftSkills: files of skills are taken over, directories are not.
func TestMycroftSkills(t *testing.T) {
	m, err := host.ReadMycroft([]byte(`{"PHAL": {"ovos-phal-plugin-tools": {"ovos-skill-md-toolbox": {"extra_skill_md_paths": ["/a/SKILL.md", "b.md"]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Taken{{Key: "toolboxes.skill.paths", Value: "/a/SKILL.md,b.md", From: "ovos-skill-md-toolbox.extra_skill_md_paths"}}
	if diff := cmp.Diff(want, fromMycroft(m, func(string) bool { return true })); diff != "" {
		t.Error(diff)
	}
	if got := fromMycroft(m, func(string) bool { return false }); got != nil {
		t.Errorf("taken over ours: %v", got)
	}
}

func TestMycroftFiles(t *testing.T) {
	home := t.TempDir()
	own := filepath.Join(home, ".config", "mycroft", "mycroft.conf")
	none := func(string) string { return "" }
	read := func(names ...string) (host.Mycroft, []string, error) { return readMycroft(names, none, home) }
	write := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, files, err := read(settings.MycroftAuto); err != nil || len(files) > 1 { // the machine may have one
		t.Errorf("no file gave %q, %v", files, err)
	}
	write(own, "{\n// mine\n\"websocket\": {\"port\": 1111}}")
	m, files, err := read(settings.MycroftAuto)
	if err != nil || len(files) == 0 || files[len(files)-1] != own || m.Bus.Port == nil || *m.Bus.Port != 1111 {
		t.Errorf("one's own file gave %+v of %q, %v", m.Bus, files, err)
	}
	over := filepath.Join(home, "over.conf")
	write(over, `{"websocket": {"port": 2222}}`)
	if m, _, err := read(own, over); err != nil || *m.Bus.Port != 2222 {
		t.Errorf("a later file does not count: %+v, %v", m.Bus, err)
	}
	if _, files, err := readMycroft([]string{settings.MycroftAuto}, func(string) string { return filepath.Join(home, "elsewhere") }, home); err != nil || len(files) > 1 {
		t.Errorf("XDG_CONFIG_HOME was not followed: %q, %v", files, err)
	}

	broken, large := filepath.Join(home, "broken.conf"), filepath.Join(home, "large.conf")
	write(broken, "{")
	write(large, `{"a":"`+strings.Repeat("x", maxMycroft)+`"}`)
	refused := map[string]string{filepath.Join(home, "missing.conf"): "", broken: "broken.conf", large: "larger", home: "not a file"}
	if runtime.GOOS != "windows" {
		open := filepath.Join(home, "open.conf")
		write(open, "{}")
		if err := os.Chmod(open, 0o666); err != nil {
			t.Fatal(err)
		}
		refused[open] = "changed by everybody"
	}
	for file, want := range refused {
		if _, _, err := read(file); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s gave %v", file, err)
		}
	}
}

// TestMycroftLeftOut: what cannot be taken is told, and does not stop the start
// or send a token elsewhere.
func TestMycroftLeftOut(t *testing.T) {
	m, err := host.ReadMycroft([]byte(`{"websocket": {"host": "elsewhere", "port": 1}, "PHAL": {"ovos-phal-plugin-tools": {
		"ovos-shell-tools": {"allow_shell": true, "allowed_commands": ["sh", "git"]}, "ovos-skill-md-toolbox": {"extra_skill_md_paths": ["/x"]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for _, taken := range fromMycroft(m, func(key string) bool { return key != "bus.token" }) {
		if taken.Left != "" {
			left[taken.From] = true
		} else if taken.Key == "bus.url" || taken.Key == "toolboxes.shell.only_commands" && taken.Value != "git" {
			t.Errorf("taken: %+v", taken)
		}
	}
	for _, from := range []string{"websocket", "ovos-shell-tools.allowed_commands", "ovos-skill-md-toolbox.extra_skill_md_paths"} {
		if !left[from] {
			t.Errorf("%s is not told: %v", from, left)
		}
	}
}
