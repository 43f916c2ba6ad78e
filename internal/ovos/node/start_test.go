package node

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/shellguard"
	"github.com/toolcrib/toolcrib/internal/spoken"
)

// TestTellStart: what will not work is told when the host starts, and nothing else.
func TestTellStart(t *testing.T) {
	start := func(sections string, mycroft, off bool, dirs ...files.Dir) string {
		var told bytes.Buffer
		cfg := settings.Defaults()
		cfg.Toolboxes.Files.Enabled = !off
		if mycroft {
			cfg.Bus.Mycroft = []string{settings.MycroftAuto}
		}
		needs := HostNeeds{
			Crib: &toolcrib.Crib{Log: slog.New(slog.NewTextHandler(&told, nil)), Grant: toolcrib.Grant{Dirs: dirs}}, Boxes: func() []string { return []string{"math", "mine"} },
			Sections: func(settings.Bus) (map[string]json.RawMessage, error) {
				var list map[string]json.RawMessage
				err := json.Unmarshal([]byte(sections), &list)
				if off := "ovos-off-tools"; list[off] != nil {
					list[off] = nil
				}
				return list, err
			},
		}
		(&Hosted{}).tellStart(cfg, cfg.Bus, needs)
		return told.String()
	}
	dir := files.Dir{Path: t.TempDir()}
	const sections = `{"ovos-math-tools":{},"Mine":{},"ovos-off-tools":{},"ovos_weather_tools":{}}`
	if got := start(sections, true, false, dir); !strings.Contains(got, "toolbox=ovos_weather_tools") || strings.Count(got, "toolbox=") != 1 || strings.Contains(got, "no directory") {
		t.Errorf("a toolbox that nobody has: %s", got)
	}
	if got := start(sections, false, false, dir); got != "" {
		t.Errorf("no mycroft.conf is asked for: %s", got)
	}
	if got := start(`{}`, true, false); !strings.Contains(got, "no directory is granted") || !strings.Contains(got, "grant.write") {
		t.Errorf("no directory: %s", got)
	}
	if got := start(`{}`, true, true); got != "" {
		t.Errorf("no directory, and no tools for files: %s", got)
	}
}

// TestNoDirectoryIsSaid: a person hears that there is none rather than that one is closed.
func TestNoDirectoryIsSaid(t *testing.T) {
	outside := &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "x", Err: files.ErrOutside}
	crib := &toolcrib.Crib{}
	if s, ours := speech("", crib).Refusal(outside); s.Key != spoken.NoDirectory || !ours {
		t.Errorf("without a directory: %v", s)
	}
	crib.Grant.Dirs = []files.Dir{{Path: "/"}}
	if s, _ := speech("", crib).Refusal(outside); s.Key != spoken.Outside {
		t.Errorf("with one: %v", s)
	}
}

// FuzzTakeMycroft: whatever a file says, what is taken can be set, commands are plain
// words, and a list of commands never leaves more allowed than it says.
func FuzzTakeMycroft(f *testing.F) {
	for _, seed := range []string{
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-shell-tools":{"allow_shell":true,"allowed_commands":["ls","git status","sh","a;b",""]}}}}`,
		`{"lang":"de-de","PHAL":{"ovos-phal-plugin-tools":{"enabled":false,"served_by":"toolcrib","ovos-skill-md-toolbox":{"extra_skill_md_paths":["/a/SKILL.md","/b"]}}}}`,
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-filesystem-tools":{"root_path":"a,b","allow_write":false,"enabled":false},"ovos-web-search-tools":{"enabled":true}}}}`,
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-shell-tools":{"allow_shell":true,"allowed_commands":["=x","*"]}}}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := host.ReadMycroft(text)
		if err != nil {
			return
		}
		only, runs := false, false
		for _, taken := range fromMycroft(m, func(string) bool { return true }) {
			if taken.Left != "" {
				continue
			}
			switch taken.Key {
			case "toolboxes.shell.only_commands":
				only = true
				for command := range strings.SplitSeq(taken.Value, ",") {
					if _, err := shellguard.ParseRules(settings.Prefixes([]string{command})); err != nil || strings.ContainsAny(command, ";|&$`*\n") {
						t.Errorf("taken: %q, %v", command, err)
					}
				}
			case "toolboxes.shell.allow_shell":
				runs = taken.Value == "true"
			}
		}
		if list := m.Boxes["ovos-shell-tools"].AllowedCommands; len(list) > 0 && runs && !only {
			t.Errorf("commands run, and the list %q does not count", list)
		}
		if m.Disabled && runs {
			t.Error("what is switched off is taken")
		}
	})
}
