package host_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/ovos/host"
)

const mycroft = `// the device
{
  # where the bus is
  "websocket": {"host": "0.0.0.0", "port": 8282, "route": "/core", "ssl": true, "max_msg_size": 25},
  "lang": "en-us", "url": "https://example.org/a",
  "PHAL": {"ovos-phal-plugin-tools": {
    "enabled": true,
    "ovos-shell-tools": {"allow_shell": true, "max_timeout": 60, "allowed_commands": ["ls", "git status"]},
    "ovos-filesystem-tools": {"root_path": "/srv", "allow_write": true},
    "ovos-skill-md-toolbox": {"extra_skill_md_paths": ["/a/SKILL.md"]}
  }}
}`

func TestReadMycroft(t *testing.T) {
	m, err := host.ReadMycroft([]byte(mycroft), []byte(`{"websocket":{"host":"pi.local"},"PHAL":{"ovos-phal-plugin-tools":{"ovos-filesystem-tools":{"allow_write":false}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]host.MycroftBox{
		"ovos-shell-tools":      {AllowShell: new(true), MaxTimeout: new(time.Minute), AllowedCommands: []string{"ls", "git status"}},
		"ovos-filesystem-tools": {RootPath: new("/srv"), AllowWrite: new(false)},
		"ovos-skill-md-toolbox": {ExtraSkillMDPaths: []string{"/a/SKILL.md"}},
	}
	if diff := cmp.Diff(want, m.Boxes); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := m.Bus.URL(); got != "wss://pi.local:8282/core" || m.Bus.MaxMsgSize == nil || *m.Bus.MaxMsgSize != 25 {
		t.Errorf("the bus is at %s, %v", got, m.Bus.MaxMsgSize)
	}
	for text, url := range map[string]string{
		`{}`:                                       "ws://127.0.0.1:8181/core",
		`{"websocket":{"host":"0.0.0.0"}}`:         "ws://127.0.0.1:8181/core",
		`{"websocket":{"host":"::1","port":9}}`:    "ws://[::1]:9/core",
		`{"websocket":{"route":"bus","ssl":null}}`: "ws://127.0.0.1:8181/bus",
		`{"websocket":{"route":"/core?token=t"}}`:  "ws://127.0.0.1:8181/core?token=t",
	} {
		if m, err := host.ReadMycroft([]byte(text)); err != nil || m.Bus.URL() != url {
			t.Errorf("%s: %s, %v", text, m.Bus.URL(), err)
		}
	}
	for text, word := range map[string]string{
		`{`: "1 of 1", `[]`: "1 of 1", `{"websocket":{"port":"8181"}}`: "websocket.port", `{"websocket":{"port":0.5}}`: "no port", `{"websocket":{"ssl":1}}`: "true or false",
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-shell-tools":{"allow_shell":"yes"}}}}`:         "PHAL.ovos-phal-plugin-tools.ovos-shell-tools.allow_shell",
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-shell-tools":{"allowed_commands":"ls"}}}}`:     "a list of texts",
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-shell-tools":{"allowed_commands":["ls",1]}}}}`: "a list of texts",
		`{"PHAL":{"ovos-phal-plugin-tools":{"ovos-shell-tools":{"max_timeout":-1}}}}`:            "seconds",
	} {
		if _, err := host.ReadMycroft([]byte(text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestMycroftSections: what a toolbox from elsewhere is told is its own business,
// and reaches it as it is written.
func TestMycroftSections(t *testing.T) {
	m, err := host.ReadMycroft([]byte(`{"PHAL":{"ovos-phal-plugin-tools":{"enabled":"yes","x":{"max_timeout":"long","big":12345678901234567890,"deep":{"a":1}}}}}`),
		[]byte(`{"PHAL":{"ovos-phal-plugin-tools":{"x":{"deep":{"b":2}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(m.Sections["x"]), `{"big":12345678901234567890,"deep":{"a":1,"b":2},"max_timeout":"long"}`; got != want {
		t.Errorf("the section is %s", got)
	}
	if !m.Disabled {
		t.Error("only true is true there")
	}
	for text, disabled := range map[string]bool{`{}`: false, `{"PHAL":{"ovos-phal-plugin-tools":{"enabled":true}}}`: false, `{"PHAL":{"ovos-phal-plugin-tools":{"enabled":false}}}`: true} {
		if m, err := host.ReadMycroft([]byte(text)); err != nil || m.Disabled != disabled {
			t.Errorf("%s: %v, %v", text, m.Disabled, err)
		}
	}
}

func FuzzReadMycroft(f *testing.F) {
	f.Add([]byte(mycroft))
	f.Add([]byte(`{"websocket":{"port":1e300},"PHAL":{"ovos-phal-plugin-tools":{"x":{"max_timeout":1e300}}}}`))
	f.Add([]byte("\ufeff// only a comment"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := host.ReadMycroft(text, text)
		once, onceErr := host.ReadMycroft(text)
		if (err == nil) != (onceErr == nil) || err == nil && cmp.Diff(once, m) != "" {
			t.Errorf("the same twice is another: %v, %v", err, onceErr)
		}
		for id, box := range m.Boxes {
			if box.MaxTimeout != nil && (*box.MaxTimeout < 0 || *box.MaxTimeout > 24*time.Hour) {
				t.Errorf("%s may run for %v", id, *box.MaxTimeout)
			}
		}
	})
}
