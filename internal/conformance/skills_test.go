package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/skills"
)

// agxSkills are places with skills, and what of them we see otherwise than AgenticX, on purpose: ours is nil where both find
// the same. Descriptions of ours are by name.
var agxSkills = map[string]struct {
	files map[string]string
	links map[string]string
	ours  map[string]string
	why   string
}{
	"plain":             {files: map[string]string{"pdf/SKILL.md": skillFile("name: pdf\ndescription: Work with PDF files.")}},
	"several":           {files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A."), "b/SKILL.md": skillFile("name: b\ndescription: B."), "c/README.md": "x"}},
	"a group of skills": {files: map[string]string{"group/a/SKILL.md": skillFile("name: a\ndescription: A."), "group/b/SKILL.md": skillFile("name: b\ndescription: B.")}},
	"a skill in a skill": {files: map[string]string{
		"a/SKILL.md": skillFile("name: a\ndescription: A."), "a/templates/b/SKILL.md": skillFile("name: b\ndescription: B."),
	}},
	"another name than the folder": {files: map[string]string{"folder/SKILL.md": skillFile("name: proper\ndescription: P.")}},
	"lines of Windows":             {files: map[string]string{"a/SKILL.md": "---\r\nname: a\r\ndescription: A.\r\n---\r\nx\r\n"}},
	"a colon that nobody quoted":   {files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: Use it for: everything.")}},
	"further keys":                 {files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A.\nlicense: MIT\ntag: x\nicon: y\nexamples: [one, two]\nallowed-tools: Read, Bash(git:*)")}},
	"a gate that is open": {files: map[string]string{
		"a/SKILL.md": skillFile("name: a\ndescription: A.\nmetadata:\n  agenticx:\n    gate:\n      os: [linux, darwin, windows]\n      requires_env: [PATH]"),
	}},
	"gates that are shut": {files: map[string]string{
		"a/SKILL.md": skillFile("name: a\ndescription: A.\nmetadata:\n  agenticx:\n    gate:\n      os: [plan9]"),
		"b/SKILL.md": skillFile("name: b\ndescription: B.\nmetadata:\n  agenticx:\n    gate:\n      requires_bins: [no-such-program]"),
		"c/SKILL.md": skillFile("name: c\ndescription: C.\nmetadata:\n  agenticx:\n    gate:\n      requires_env: [NO_SUCH_VARIABLE]"),
		"d/SKILL.md": skillFile("name: d\ndescription: D.\nmetadata:\n  agenticx:\n    gate:\n      requires_any_bins: [no-such-program, nor-this]"),
	}},
	"a gate that does not count": {files: map[string]string{
		"a/SKILL.md": skillFile("name: a\ndescription: A.\nmetadata:\n  agenticx:\n    gate:\n      os: [plan9]\n      always: true"),
	}},
	"no skill at all": {files: map[string]string{"a/README.md": "x", "b/skill.txt": "x"}},

	"a gate with its list below": {
		why:  "AgenticX reads lists in brackets only, and opens the gate",
		ours: map[string]string{}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A.\nmetadata:\n  agenticx:\n    gate:\n      os:\n        - plan9")},
	},
	"a gate that asks for a setting": {
		why:  "AgenticX has reserved the word, and opens the gate",
		ours: map[string]string{}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A.\nmetadata:\n  agenticx:\n    gate:\n      requires_config: [toolboxes.web.endpoint]")},
	},
	"the word of a gate elsewhere": {
		why:  "AgenticX takes every line os: for a gate, we those in metadata.agenticx.gate",
		ours: map[string]string{"a": "A."}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A.\nmetadata:\n  machine:\n    os: [plan9]")},
	},
	"quotes": {
		why:  "AgenticX keeps the quotes of YAML as a part of the text",
		ours: map[string]string{"a": "A: it's."}, files: map[string]string{"a/SKILL.md": skillFile("name: \"a\"\ndescription: 'A: it''s.'")},
	},
	"a folded description": {
		why:  "AgenticX takes the sign for the description",
		ours: map[string]string{"a": "One line and another."}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: >\n  One line\n  and another.")},
	},
	"a description on two lines": {
		why:  "AgenticX takes the first",
		ours: map[string]string{"a": "One line and another."}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: One line\n  and another.")},
	},
	"one that models are not to use": {
		why:  "AgenticX has no such key",
		ours: map[string]string{}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A.\ndisable-model-invocation: true")},
	},
	"a comment": {
		why:  "AgenticX takes a comment of YAML for text",
		ours: map[string]string{"a": "A."}, files: map[string]string{"a/SKILL.md": skillFile("name: a # this one\ndescription: A. # short")},
	},
	"no front matter": {
		why:  "AgenticX leaves it out, we go by the folder and how the text begins",
		ours: map[string]string{"a": "Do it well."}, files: map[string]string{"a/SKILL.md": "Do it well.\n"},
	},
	"no name": {
		why:  "AgenticX leaves it out, we go by the folder",
		ours: map[string]string{"a": "A."}, files: map[string]string{"a/SKILL.md": skillFile("description: A.")},
	},
	"no description": {
		why:  "AgenticX shows none, we how the text begins",
		ours: map[string]string{"a": "Do it well."}, files: map[string]string{"a/SKILL.md": "---\nname: a\n---\nDo it well.\n"},
	},
	"a name in the text": {
		why:  "AgenticX finds a name anywhere in the file",
		ours: map[string]string{"a": "A."}, files: map[string]string{"a/SKILL.md": "---\ndescription: A.\n---\nWrite this:\nname: other\n"},
	},
	"a byte order mark": {
		why:  "AgenticX leaves it out",
		ours: map[string]string{"a": "A."}, files: map[string]string{"a/SKILL.md": "\ufeff" + skillFile("name: a\ndescription: A.")},
	},
	"a place that is a skill": {
		why:  "AgenticX looks at folders in a place only",
		ours: map[string]string{"a": "A."}, files: map[string]string{"SKILL.md": skillFile("name: a\ndescription: A.")},
	},
	"three folders deep": {
		why:  "AgenticX looks two folders deep, we five",
		ours: map[string]string{"a": "A."}, files: map[string]string{"one/two/a/SKILL.md": skillFile("name: a\ndescription: A.")},
	},
	"a hidden folder": {
		why:  "AgenticX passes them over, we read what the person put there",
		ours: map[string]string{"a": "A."}, files: map[string]string{".system/SKILL.md": skillFile("name: a\ndescription: A.")},
	},
	"small letters": {
		why:  "AgenticX knows the file by its exact name",
		ours: map[string]string{"a": "A."}, files: map[string]string{"a/skill.md": skillFile("name: a\ndescription: A.")},
	},
	"a link": {
		why:  "AgenticX follows links out of a place, we do not: they are told of, and the place that they lead to can be named",
		ours: map[string]string{}, files: map[string]string{"../outside/SKILL.md": skillFile("name: a\ndescription: A.")}, links: map[string]string{"a": "../outside"},
	},
	"more text than anybody reads": {
		why:  "AgenticX reads files of any size",
		ours: map[string]string{}, files: map[string]string{"a/SKILL.md": skillFile("name: a\ndescription: A.") + strings.Repeat("x", 300<<10)},
	},
}

func skillFile(front string) string { return "---\n" + front + "\n---\nDo it well.\n" }

// TestGenuineAgenticXSkills: AgenticX' own loader and ours find the same skills in the same places, but where the list above
// says why not. The package brings folders of skills with nothing in them, so that there is nothing to compare in these.
func TestGenuineAgenticXSkills(t *testing.T) {
	python := genuine(t).base.python
	top, home := t.TempDir(), t.TempDir()
	names := slices.Sorted(maps.Keys(agxSkills))
	var places []string
	for i, name := range names {
		place := filepath.Join(top, string(rune('a'+i%26))+string(rune('a'+i/26)), "skills")
		for file, text := range agxSkills[name].files {
			at := filepath.Join(place, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll(place, 0o755); err != nil {
			t.Fatal(err)
		}
		for link, target := range agxSkills[name].links {
			if err := os.Symlink(target, filepath.Join(place, link)); err != nil {
				t.Fatal(err)
			}
		}
		places = append(places, place)
	}
	in, err := json.Marshal(places)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python, filepath.Join("testdata", "python", "agenticx_skills.py"))
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home)
	var log bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &log
	var said []map[string]string // descriptions by name
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil {
		t.Fatalf("agenticx_skills.py: %v\n%s", err, log.String())
	}
	for i, name := range names {
		c := agxSkills[name]
		theirs, ours := said[i], ourSkills(t, places[i])
		want := c.ours
		if want == nil {
			want = theirs
		} else if cmp.Equal(want, theirs) {
			t.Errorf("%s: both find the same, although %s", name, c.why)
		}
		if diff := cmp.Diff(want, ours); diff != "" {
			t.Errorf("%s (%s):\n%s", name, c.why, diff)
		}
	}
}

// ourSkills are the descriptions of the skills in a place, by name, as our loader finds them.
func ourSkills(t *testing.T, place string) map[string]string {
	t.Helper()
	cfg := settings.Defaults()
	cfg.Toolboxes.Skill.Paths, cfg.Toolboxes.Skill.User = []string{place}, false
	box, err := skills.Open(t.Context(), cfg, skills.Needs{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	list, err := box.Skills(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, s := range list {
		found[s.Name] = s.Description
	}
	return found
}
