package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp/clientfiles"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/setup"
)

func namesOf(list []setup.Taken) (names []string) {
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}

// TestChooseAsksApart: what a project brings along is shown after what is the
// person's own, with the command, and has a question of its own.
func TestChooseAsksApart(t *testing.T) {
	denied := &toolcrib.Error{Code: toolcrib.CodeDenied, Message: "no"}
	list := []setup.Taken{
		{Name: "theirs", Project: true, File: ".mcp.json", Server: clientfiles.Server{Name: "theirs", Command: "curl"}},
		{Name: "mine", Server: clientfiles.Server{Name: "mine", Command: "x"}, Secrets: []clientfiles.Found{{Name: "a"}}},
	}
	tests := []struct {
		answers []error // nil: yes
		want    []string
		fails   bool
	}{
		{[]error{nil, nil}, []string{"mine", "theirs"}, false},
		{[]error{nil, denied}, []string{"mine"}, false},
		{[]error{denied, nil}, []string{"theirs"}, false},
		{[]error{denied, denied}, nil, true},
		{[]error{errors.New("nobody is there")}, nil, true},
	}
	for _, tt := range tests {
		var out bytes.Buffer
		c, asked := &command{out: &out}, []string{}
		got, err := c.choose(list, false, func(question string) (bool, error) {
			asked = append(asked, question)
			err := tt.answers[len(asked)-1]
			return err == nil, err
		})
		if !slices.Equal(namesOf(got), tt.want) || (err != nil) != tt.fails {
			t.Errorf("%v: %q, %v", tt.answers, namesOf(got), err)
		}
		if asked[0] != "Write 1 server to the configuration and 1 secret to the vault?" || len(asked) > 1 && asked[1] != "Write 1 server to the configuration and 0 secrets to the vault?" {
			t.Errorf("%q", asked)
		}
		if len(asked) > 1 && !strings.Contains(out.String(), "chose these programs:\ntheirs (from ") {
			t.Errorf("%s", out.String())
		}
	}
}

// TestImportNeverTakesAProjectUnasked: --yes is no answer to what a clone names.
func TestImportNeverTakesAProjectUnasked(t *testing.T) {
	var said bytes.Buffer
	c := &command{out: io.Discard, err: &said}
	got := c.leaveProject([]setup.Taken{{Name: "theirs", Project: true, File: ".mcp.json"}, {Name: "mine"}})
	if !slices.Equal(namesOf(got), []string{"mine"}) || !strings.Contains(said.String(), "left out: theirs") {
		t.Errorf("%q, %s", namesOf(got), said.String())
	}
}

// TestSameServerInTwoFiles: it is taken once, and never with more than either
// file gives. A project's file has no say in what is the person's own.
func TestSameServerInTwoFiles(t *testing.T) {
	server := func(project, off bool, without ...string) setup.Taken {
		return setup.Taken{File: "f", Project: project, Server: clientfiles.Server{Name: "s", Source: clientfiles.Kiro, Command: "x", DisabledTools: without, Disabled: off}}
	}
	for _, tt := range []struct {
		name    string
		list    []setup.Taken
		there   map[string]settings.MCPServer
		without string
		off     bool
		said    string
	}{
		{"narrower first", []setup.Taken{server(false, false, "a"), server(false, false)}, nil, "a", false, ""},
		{"narrower second", []setup.Taken{server(false, false), server(false, true, "a", "b")}, nil, "a b", true, ""},
		{"a project's", []setup.Taken{server(false, false), server(true, true, "a")}, nil, "", false, "one of yours already"},
		{"two of a project", []setup.Taken{server(true, false), server(true, false, "a")}, nil, "a", false, ""},
		{"there", []setup.Taken{server(false, false, "a")}, map[string]settings.MCPServer{"s": {Command: "x"}}, "", false, "is here already; it is narrower there, yours stays as it is: disabled_tools"},
	} {
		var out bytes.Buffer
		got, err := (&command{out: &out}).name(tt.list, tt.there)
		if err != nil || !strings.Contains(out.String(), tt.said) {
			t.Errorf("%s: %v, %s", tt.name, err, out.String())
		}
		if len(got) != 1 {
			if tt.there == nil || len(got) > 0 {
				t.Errorf("%s: %q", tt.name, namesOf(got))
			}
			continue
		}
		if s := got[0].Server; strings.Join(s.DisabledTools, " ") != tt.without || s.Disabled != tt.off {
			t.Errorf("%s: %+v", tt.name, s)
		}
	}
}

// TestFindReadsWhatSwitchesOff: a person's no to a project's server counts, and
// a file that might say no and cannot be read counts as one.
func TestFindReadsWhatSwitchesOff(t *testing.T) {
	c, _, _, said := importing(t)
	home := c.dir
	c.dir = filepath.Join(home, "p")
	write := func(path, text string) {
		t.Helper()
		full := filepath.Join(home, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("p/.mcp.json", `{"mcpServers": {"no": {"command": "n"}, "local": {"command": "l"}, "yes": {"command": "y"}}}`)
	write(".claude/settings.json", `{"disabledMcpjsonServers": ["no"]}`)
	write("p/.claude/settings.local.json", `{"disabledMcpjsonServers": ["local"]}`)
	find := func(off ...string) {
		t.Helper()
		got, err := c.find(nil, "")
		if err != nil || len(got) != 3 {
			t.Fatalf("%v, %v", got, err)
		}
		for _, g := range got {
			if g.Server.Disabled != slices.Contains(off, g.Server.Name) || !g.Project {
				t.Errorf("%+v", g)
			}
		}
	}
	find("no", "local")
	write("p/.claude/settings.json", `{`)
	find("no", "local", "yes")
	if !strings.Contains(said.String(), "it may switch off servers of") {
		t.Errorf("%s", said)
	}
}
