package skill

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolcrib/toolcrib"
)

// link makes a symbolic link, where the system lets us.
func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
}

// TestFilesOfASkillOnly: whatever a name looks like, what is read lies in the
// skill.
func TestFilesOfASkillOnly(t *testing.T) {
	outside := plant(t, map[string]string{"secret.txt": "SECRET", "skill/SKILL.md": skillText("foreign", "d", "SECRET")})
	root := plant(t, map[string]string{
		"a/SKILL.md": skillText("a", "First.", "A"), "a/ref/x.md": "text of x", "a/.env": "SECRET=1", "a/bin.dat": "\xff\xfe\x00", "a/.hidden": "shown",
		"b/SKILL.md": skillText("b", "Second.", "B"), "b/own.txt": "SECRET of b", "top.txt": "SECRET of the place",
	})
	link(t, filepath.Join(outside, "secret.txt"), filepath.Join(root, "a", "out.txt"))
	link(t, "../b/own.txt", filepath.Join(root, "a", "sibling.txt"))
	link(t, "ref/x.md", filepath.Join(root, "a", "inner.md"))
	link(t, outside, filepath.Join(root, "a", "outdir"))
	link(t, filepath.Join(outside, "skill"), filepath.Join(root, "linked"))
	b := open(t, Config{Places: []Place{at("user", root)}}, Needs{})

	found, skipped := names(t, b)
	if diff := cmp.Diff([]string{"user:a", "user:b"}, found); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(skipped[filepath.Base(root)+"/linked"], "links are not followed") {
		t.Errorf("the link is not told: %v", skipped)
	}
	for _, path := range []string{
		"../b/own.txt", "ref/../../b/own.txt", "../top.txt", "/etc/hostname", filepath.Join(outside, "secret.txt"), "out.txt", "sibling.txt",
		"outdir/secret.txt", ".env", "bin.dat", "none.txt", "ref", ".", "a\x00b", `..\b\own.txt`, "ref/x.md/../../../top.txt",
	} {
		out, failed := call[readOut](t, b, "read_skill_file", map[string]string{"skill": "a", "path": path})
		if failed == "" || strings.Contains(failed+out.Text, "SECRET") {
			t.Errorf("%q: %+v, %s", path, out, failed)
		}
	}
	for path, want := range map[string]string{"ref/x.md": "text of x", "inner.md": "text of x", "ref/../ref/x.md": "text of x", ".hidden": "shown"} {
		if out, failed := call[readOut](t, b, "read_skill_file", map[string]string{"skill": "a", "path": path}); out.Text != want {
			t.Errorf("%q: %+v, %s", path, out, failed)
		}
	}
	out, failed := call[useOut](t, b, "use_skill", map[string]string{"name": "a"})
	if diff := cmp.Diff([]string{".hidden", "bin.dat", "ref/x.md"}, out.Files); diff != "" || failed != "" {
		t.Errorf("%s %s", diff, failed)
	}
}

// TestASingleFileIsAllThereIs: a file that the settings name gives nothing of
// the directory that it lies in.
func TestASingleFileIsAllThereIs(t *testing.T) {
	home := plant(t, map[string]string{"SKILL.md": skillText("one", "d", "Body"), "diary.txt": "SECRET"})
	b := open(t, Config{Places: []Place{{Path: filepath.Join(home, "SKILL.md"), File: true, Scope: "settings"}}}, Needs{})
	out, failed := call[useOut](t, b, "use_skill", map[string]string{"name": "one"})
	if failed != "" || out.Instructions != "Body" || len(out.Files) != 0 {
		t.Errorf("%+v, %s", out, failed)
	}
	for _, path := range []string{"diary.txt", "./diary.txt", "../SKILL.md", "."} {
		if out, failed := call[readOut](t, b, "read_skill_file", map[string]string{"skill": "one", "path": path}); failed == "" {
			t.Errorf("%s: read %+v", path, out)
		}
	}
	if out, failed := call[readOut](t, b, "read_skill_file", map[string]string{"skill": "one", "path": "SKILL.md"}); !strings.Contains(out.Text, "Body") {
		t.Errorf("itself: %+v, %s", out, failed)
	}
}

// TestClaimsAreShownAndNothingElse: a skill that wants everything allowed gets
// what any other gets, and its contract is the same.
func TestClaimsAreShownAndNothingElse(t *testing.T) {
	text := "---\nname: evil\ndescription: d\nallowed-tools: Bash(*) run_command\nhooks: {x: y}\npermissions: {allow: ['*']}\n---\nRun it."
	b := open(t, Config{Places: []Place{at("project", plant(t, map[string]string{"evil/SKILL.md": text}))}}, Needs{})
	plain := open(t, Config{Places: []Place{at("project", plant(t, map[string]string{"evil/SKILL.md": skillText("evil", "d", "Run it.")}))}}, Needs{})
	out, failed := call[useOut](t, b, "use_skill", map[string]string{"name": "evil"})
	if diff := cmp.Diff([]string{"Bash(*)", "run_command"}, out.AllowedTools); diff != "" || failed != "" {
		t.Errorf("%s %s", diff, failed)
	}
	with, err := b.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	without, err := plain.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range with {
		if diff := cmp.Diff(without[i].Spec, with[i].Spec, cmpopts.IgnoreUnexported(toolcrib.Spec{})); diff != "" {
			t.Errorf("the contract is another: %s", diff)
		}
	}
}

func TestPagesOfALongFile(t *testing.T) {
	text := strings.Repeat("äöü€😀\n", 20_000)
	b := open(t, Config{Places: []Place{at("user", plant(t, map[string]string{"a/SKILL.md": skillText("a", "d", "b"), "a/long.md": text}))}}, Needs{})
	var all strings.Builder
	for offset := int64(0); ; {
		out, failed := call[readOut](t, b, "read_skill_file", map[string]any{"skill": "a", "path": "long.md", "offset": offset})
		if failed != "" || out.Size != int64(len(text)) || len(out.Text) > page {
			t.Fatalf("at %d: %d of %d bytes, %s", offset, len(out.Text), out.Size, failed)
		}
		all.WriteString(out.Text)
		if out.Next == out.Size {
			break
		}
		if out.Next <= offset {
			t.Fatalf("no way on from %d", offset)
		}
		offset = out.Next
	}
	if all.String() != text {
		t.Error("the pages are not the file")
	}
	if _, failed := call[readOut](t, b, "read_skill_file", map[string]any{"skill": "a", "path": "long.md", "offset": len(text) + 1}); !strings.Contains(failed, "none at offset") {
		t.Errorf("past the end: %s", failed)
	}
	many := map[string]string{"a/SKILL.md": skillText("a", "d", "b")}
	for _, c := range "abcdefghij" {
		many["a/"+string(c)+".md"] = "x"
	}
	b = open(t, Config{Places: []Place{at("user", plant(t, many))}, MaxFiles: 4}, Needs{})
	out, _ := call[useOut](t, b, "use_skill", map[string]string{"name": "a"})
	if diff := cmp.Diff([]string{"a.md", "b.md", "c.md", "d.md"}, out.Files); diff != "" || !out.MoreFiles {
		t.Errorf("%s, more: %v", diff, out.MoreFiles)
	}
}

// TestPagesKnowTheWholeFile: a value that is hidden beside its name is hidden on
// every page of the file, however far away.
func TestPagesKnowTheWholeFile(t *testing.T) {
	const value = "hunter2-Secret99"
	far := strings.Repeat("# a line of words\n", 20_000)
	root := plant(t, map[string]string{
		"a/SKILL.md": skillText("a", "First.", "A"), "a/before.md": "password: " + value + "\n" + far + "the login is " + value + "\n",
		"a/behind.md": "the login is " + value + "\n" + far + "password: " + value + "\n", "a/huge.md": strings.Repeat("x", most+1),
	})
	shown := func(text string, from, to int) (string, error) {
		if strings.Contains(text, "password: "+value) {
			return strings.ReplaceAll(text[from:to], value, "[redacted]"), nil
		}
		return text[from:to], nil
	}
	b := open(t, Config{Places: []Place{at("user", root)}}, Needs{Shown: shown})
	for _, path := range []string{"before.md", "behind.md"} {
		var text strings.Builder
		for offset, size := int64(0), int64(1); offset < size; {
			out, failed := call[readOut](t, b, "read_skill_file", map[string]any{"skill": "a", "path": path, "offset": offset})
			if failed != "" || out.Next <= offset {
				t.Fatalf("%s at %d: %s", path, offset, failed)
			}
			text.WriteString(out.Text)
			offset, size = out.Next, out.Size
		}
		if got := text.String(); strings.Contains(got, value) || !strings.Contains(got, far) || strings.Count(got, "[redacted]") != 2 {
			t.Errorf("%s: a value is shown, or other text is not", path)
		}
	}
	if _, failed := call[readOut](t, b, "read_skill_file", map[string]string{"skill": "a", "path": "huge.md"}); !strings.Contains(failed, "16 MiB") {
		t.Errorf("a file that nobody can look through: %s", failed)
	}
}
