package files

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestNamesAreNoOracle: whatever is asked about, two trees that differ only in
// names which are not shown give the same answers.
func TestNamesAreNoOracle(t *testing.T) {
	trees := []string{"sk-zx9v", "sk-a1b2"}
	var answers [2][]string
	for i, secret := range trees {
		d := veiledDesk(t)
		for _, name := range []string{"a", "sk", "sm", "sub/" + secret, "sub/" + secret + "-dir/inner.txt", secret, secret + ".txt", "b-" + secret, "sub/m/x", "sub/sk-/y", "sub/z/x"} {
			d.put(t, name, "needle\n")
		}
		patterns := []string{"*", "**", "sk-*", "sk-z*", "sk-a*", "*9v", "*b2", "*[v2]", "sk-????", "{sk-z,sk-a}*", "b-sk-z*", "**/sk-z*", "**/sk-a*", "sub/sk-z*/**", "sub/sk-a*/**", "**/sk-z*-dir/*", "[!s]*", "*redacted*", "s[k-l]*", "sk-z*/**"}
		for _, p := range patterns {
			for _, c := range []struct {
				tool string
				in   map[string]any
			}{
				{"find_files", map[string]any{"glob": p}},
				{"list_files", map[string]any{"pattern": p, "recursive": true}},
				{"list_files", map[string]any{"pattern": p, "recursive": true, "limit": 2}},
				{"search_files", map[string]any{"pattern": "needle", "file_pattern": p}},
				{"search_files", map[string]any{"pattern": "needle", "file_pattern": p, "limit": 1}},
			} {
				answers[i] = append(answers[i], d.answer(t, c.tool, c.in, secret))
			}
			if err := os.WriteFile(filepath.Join(d.dir, ".gitignore"), []byte(p+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, tool := range []string{"list_files", "find_files", "search_files"} {
				in := map[string]any{"gitignore": true, "recursive": true}
				switch tool {
				case "find_files":
					in = map[string]any{"gitignore": true, "glob": "**"}
				case "search_files":
					in = map[string]any{"gitignore": true, "pattern": "needle"}
				}
				answers[i] = append(answers[i], "ignored "+p+": "+d.answer(t, tool, in, secret))
			}
			if err := os.Remove(filepath.Join(d.dir, ".gitignore")); err != nil {
				t.Fatal(err)
			}
		}
	}
	found := 0
	for i := range answers[0] {
		if answers[0][i] != answers[1][i] {
			t.Errorf("these differ:\n%s\n%s", answers[0][i], answers[1][i])
		}
		found += strings.Count(answers[0][i], "[redacted]")
	}
	if found == 0 {
		t.Error("nothing was hidden at all")
	}
}

// answer is what a caller gets to see, without the place of the desk.
func (d *desk) answer(t *testing.T, tool string, in map[string]any, secret string) string {
	t.Helper()
	text, err := json.Marshal(d.must(t, tool, in))
	if err != nil {
		t.Fatal(err)
	}
	show := strings.ReplaceAll(strings.ReplaceAll(string(text), d.dir, ""), secret, "[redacted]")
	return fmt.Sprintf("%s %v: %s", tool, in, show)
}

// TestSearchIsNoOracle: whatever is looked for, two files that differ only in
// what is not shown give the same answer.
func TestSearchIsNoOracle(t *testing.T) {
	var answers [2][]string
	for i, secret := range []string{"sk-zx9v", "sk-a1b2"} {
		d := veiledDesk(t)
		d.put(t, "conf", "first\ntoken: "+secret+"\nlast\n")
		d.put(t, "plain", "first\nother\nlast\n")
		for _, p := range []string{
			"token: sk-z", `token: sk-z|\[redacted\]`, `\[redacted\]|sk-z`, `\[redacted\]|token: sk-a`, `(?!x)token: sk-z|\[red`, `a(?=x)|\[|sk-zx`, `ed\]$|sk-z`, `^t.*[\]v]$`, `^t.*[\]2]$`, `token: (\[|sk-z)`, `(?i)REDACTED|SK-Z`,
			"token: ", "[redacted]", "token: [", "acted]", "]", "sk-", `sk-|last`, `^last|sk-z`, `.`, `\w+: .*`, `token: \S`, `(?<=token: )\[`, `e[n]: .[^z]`, `first|[^k]-z`,
		} {
			for _, in := range []map[string]any{{"path": "."}, {"path": "conf"}, {"path": ".", "ignore_case": true}, {"path": ".", "limit": 1}, {"path": ".", "line_ends": "unicode"}, {"path": ".", "context": 1}} {
				for _, regex := range []bool{true, false} {
					in["pattern"], in["regex"] = p, regex
					out, fault := d.call(t, "search_files", in)
					text, err := json.Marshal(out)
					if err != nil {
						t.Fatal(err)
					}
					answers[i] = append(answers[i], fmt.Sprintf("%v: %s %s", in, strings.ReplaceAll(string(text), d.dir, ""), fault))
				}
			}
		}
	}
	found := 0
	for i := range answers[0] {
		if answers[0][i] != answers[1][i] {
			t.Errorf("these differ:\n%s\n%s", answers[0][i], answers[1][i])
		}
		found += strings.Count(answers[0][i], "token: [redacted]")
	}
	if found == 0 {
		t.Error("what is shown beside hidden values is not found")
	}
}

// TestChangesAreNoOracle: what a change answers, and what a person is shown of
// it, does not tell whether the caller has guessed what a file hides.
func TestChangesAreNoOracle(t *testing.T) {
	const guess = "sunshine2019"
	var answers [2][]string
	for i, secret := range []string{guess, "moonlight77x"} {
		for _, content := range []string{"a: 1\npass=" + secret + "\nlast\n", "a: 1\npass=" + secret} {
			for _, c := range []struct {
				tool string
				in   map[string]any
			}{
				{"write_file", map[string]any{"append": true, "content": "\nzz " + guess + "x\n"}},
				{"write_file", map[string]any{"append": true, "content": "\n" + guess}},
				{"write_file", map[string]any{"append": true, "content": "\npass=" + guess + "\n"}},
				{"write_file", map[string]any{"content": "a: 1\npass=" + guess + "\nlast\n"}},
				{"write_file", map[string]any{"content": "a: 1\npass=" + guess}},
				{"write_file", map[string]any{"content": "a: 1\npass=[redacted]\nlast " + guess + "\n"}},
				{"write_file", map[string]any{"content": "nothing " + guess + "\n"}},
				{"edit_file", map[string]any{"old_text": "a: 1", "new_text": "a: " + guess}},
				{"edit_file", map[string]any{"old_text": "pass=[redacted]", "new_text": "pass=" + guess}},
				{"edit_file", map[string]any{"old_text": "pass=[redacted]", "new_text": guess}},
				{"edit_file", map[string]any{"old_text": "pass=", "new_text": "word "}},
			} {
				d := veiledDesk(t)
				d.put(t, "f", content)
				d.must(t, "read_file", map[string]any{"path": "f"})
				in := maps.Clone(c.in)
				in["path"] = "f"
				said := d.previewOf(t, c.tool, in) + d.whole(t, c.tool, in)
				said = strings.ReplaceAll(strings.ReplaceAll(said, d.dir, ""), secret, "SECRET")
				answers[i] = append(answers[i], fmt.Sprintf("%s %v: %s", c.tool, c.in, strings.ReplaceAll(said, guess, "SECRET")))
			}
			// Pieces that were there before are put together.
			d := veiledDesk(t)
			d.put(t, "f", content+"\nsunshine@2019\n")
			d.must(t, "read_file", map[string]any{"path": "f"})
			said := d.whole(t, "edit_file", map[string]any{"path": "f", "old_text": "sunshine@", "new_text": "sunshine"})
			answers[i] = append(answers[i], strings.ReplaceAll(strings.ReplaceAll(said, d.dir, ""), guess, "SECRET"))
		}
	}
	for i := range answers[0] {
		if answers[0][i] != answers[1][i] {
			t.Errorf("these differ:\n%s\n%s", answers[0][i], answers[1][i])
		}
	}
}

// previewOf is what a person would be shown.
func (d *desk) previewOf(t *testing.T, tool string, in map[string]any) string {
	t.Helper()
	var text string
	guards, approver := d.Guards, d.Approver
	defer func() { d.Guards, d.Approver = guards, approver }()
	d.Guards = []toolcrib.Guard{askAlways{}}
	d.Approver = approverFunc(func(q toolcrib.Question) { text = q.Preview })
	if _, err := d.Call(t.Context(), callOf(t, tool, in)); err != nil {
		text += err.Error()
	}
	return text
}

type askAlways struct{}

func (askAlways) Judge(context.Context, toolcrib.Review) (*toolcrib.Verdict, error) {
	return &toolcrib.Verdict{Decision: toolcrib.Ask, Guard: "test"}, nil
}

type approverFunc func(toolcrib.Question)

func (f approverFunc) Approve(_ context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
	f(q)
	return toolcrib.Answer{Decision: toolcrib.Deny}, nil
}
