package config

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

func TestSetEntry(t *testing.T) {
	value := map[string]any{"command": "npx", "args": []string{"-y", "x"}}
	entry := "  s:\n    args:\n      - -y\n      - x\n    command: npx\n"
	for name, c := range map[string]struct{ given, want string }{
		"nothing":               {"", "mcp_servers:\n" + entry},
		"other settings":        {"mode: plan # mine\n", "mode: plan # mine\n\nmcp_servers:\n" + entry},
		"no line end":           {"mode: plan", "mode: plan\n\nmcp_servers:\n" + entry},
		"empty block":           {"mcp_servers: {}\nmode: plan\n", "mcp_servers:\n" + entry + "mode: plan\n"},
		"null block":            {"mcp_servers:\nmode: plan\n", "mcp_servers:\n" + entry + "mode: plan\n"},
		"others":                {"mcp_servers:\n  # first\n  a:\n    url: x\nmode: plan\n", "mcp_servers:\n" + entry + "  # first\n  a:\n    url: x\nmode: plan\n"},
		"empty, with a comment": {"mcp_servers: {} # mine\n", "mcp_servers: # mine\n" + entry},
		"null, with a comment":  {"mcp_servers: # mine", "mcp_servers: # mine\n" + entry},
		"quoted head":           {"\"mcp_servers\": null\nmode: plan\n", "\"mcp_servers\":\n" + entry + "mode: plan\n"},
		"Windows":               {"mode: plan\r\n", "mode: plan\r\n\r\nmcp_servers:\r\n" + strings.ReplaceAll(entry, "\n", "\r\n")},
		"in its place":          {"mcp_servers:\n  s:\n    url: x\n    # old\n  b:\n    url: y\n", "mcp_servers:\n" + entry + "  b:\n    url: y\n"},
	} {
		got, err := SetEntry([]byte(c.given), "mcp_servers", "s", value)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s", name, err, got)
		}
	}
	for name, bad := range map[string]string{
		"braces": "mcp_servers: {a: {url: x}}\n", "no block": "mcp_servers: 3\n", "broken": "a: [\n", "a list": "- a\n",
		"all in braces": "{mode: plan}\n", "two documents": "mode: plan\n---\nmode: yolo\n", "twice": "mcp_servers:\n  s:\n    url: x\n  s:\n    url: y\n",
		"an alias": "a: &a\n  s: {}\nmcp_servers: *a\n", "Latin-1": "mode: plan # \xe9\n", "old Mac": "mode: plan\rprofile: x\n",
		"next line": "mode: plan # \u0085\n", "line separator": "mode: plan # \u2028\n", "paragraph separator": "mode: plan # \u2029\n",
	} {
		if _, err := SetEntry([]byte(bad), "mcp_servers", "s", value); err == nil {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestRemoveEntry(t *testing.T) {
	for given, want := range map[string]string{
		"mcp_servers:\n  s:\n    url: x\n":                             "mcp_servers: {}\n",
		"mcp_servers:\n  s:\n    url: x\n\nmode: plan\n":               "mcp_servers: {}\n\nmode: plan\n",
		"# c\nmcp_servers:\n  a:\n    url: y\n  s: # no\n    url: x\n": "# c\nmcp_servers:\n  a:\n    url: y\n",
		"mode: plan\n": "mode: plan\n",
		// Comments that stand out do not end an entry; those behind it are the next one's.
		"mcp_servers:\n  s:\n    command: y\n# at the margin\n    args: [z]\n    disabled: true\n  c:\n    command: w\n": "mcp_servers:\n  c:\n    command: w\n",
		"mcp_servers:\n  a:\n    command: x\n  s:\n    command: y\n  # of s\n    disabled: true\n":                       "mcp_servers:\n  a:\n    command: x\n",
		"mcp_servers:\n  s:\n    command: y\n    # of s\n  # of c\n  c:\n    command: w\n":                               "mcp_servers:\n  # of c\n  c:\n    command: w\n",
		"mcp_servers:\n  s:\n    command: y\n# of mode\nmode: plan\n":                                                    "mcp_servers: {}\n# of mode\nmode: plan\n",
		"mcp_servers: # mine\n  s:\n    command: y\n":                                                                    "mcp_servers: {} # mine\n",
		"mcp_servers:\n  s: {command: y,\n  args: [q]}\n  a:\n    command: x\n":                                          "mcp_servers:\n  a:\n    command: x\n",
		"mcp_servers:\n  a:\n    command: x\n  s:\n    env: {X: \"a\n      c: d\"}\n":                                    "mcp_servers:\n  a:\n    command: x\n",
		"mcp_servers:\n  s:\n    command: |\n      x\n\n      # y\n  a:\n    command: x\n":                               "mcp_servers:\n  a:\n    command: x\n",
		"mcp_servers:\r\n  s:\r\n    url: x\r\nmode: plan\r\n":                                                           "mcp_servers: {}\r\nmode: plan\r\n",
	} {
		got, _, err := RemoveEntry([]byte(given), "mcp_servers", "s")
		if err != nil || string(got) != want {
			t.Errorf("%q: %v %q", given, err, got)
		}
	}
}

// TestRemoveEntryTouchesNothingElse: where the lines of an entry cannot be told
// for sure, or something else hangs on it, the file is left as it is.
func TestRemoveEntryTouchesNothingElse(t *testing.T) {
	for name, text := range map[string]string{
		"line separator in a text":    "mcp_servers:\n  a:\n    args: [\"1\u2028\"]\n  s:\n    command: y\n  c:\n    command: z\n",
		"line separator in a comment": "# note\u2028\nmcp_servers:\n  a:\n    command: x\n  s:\n    command: y\n  c:\n    command: z\n",
		"next line in a comment":      "# note\u0085\nmcp_servers:\n  a:\n    command: x\n  s:\n    command: y\n  c:\n    command: z\n",
		"lone carriage return":        "x: 1\rmcp_servers:\n  a:\n    command: x\n  s:\n    command: y\n  c:\n    command: z\n",
		"an anchor that others use":   "mcp_servers:\n  s: &s\n    command: y\n  c: *s\n",
		"an anchor that hides one":    "x: &v a\nmcp_servers:\n  s:\n    command: &v b\n  c:\n    command: *v\n",
		"a second document":           "mcp_servers:\n  s:\n    command: y\n---\nmode: plan\n",
		"an explicit key":             "? mcp_servers\n: s:\n    command: y\n  c:\n    command: z\n",
	} {
		if got, did, err := RemoveEntry([]byte(text), "mcp_servers", "s"); err == nil || did || got != nil {
			t.Errorf("%s: %v, %v\n%q", name, did, err, got)
		}
	}
	// The name of an alias is no key.
	text := "x: &s k\nmcp_servers:\n  *s : {command: y}\n"
	if got, did, err := RemoveEntry([]byte(text), "mcp_servers", "s"); err != nil || did || string(got) != text {
		t.Errorf("%v, %v\n%q", did, err, got)
	}
}

// TestSetEntryHoldsForeignTexts: whatever stands in a value, it stays in there,
// and nothing else of the file says anything new.
func TestSetEntryHoldsForeignTexts(t *testing.T) {
	const base = "mode: plan\nmcp_servers:\n  a:\n    command: x\nprofile: minimal\n"
	hold := func(t interface{ Fatalf(string, ...any) }, text string) {
		out, err := SetEntry([]byte(base), "mcp_servers", "n", map[string]any{
			"command": text, "args": []string{text, "tail"}, "env": map[string]string{"K" + text: text}, "disabled": true,
		})
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if strings.ContainsAny(string(out), "\r\u0085\u2028\u2029") {
			t.Fatalf("%q is written as it stands:\n%q", text, out)
		}
		var got map[string]any
		if err := yaml.Unmarshal(out, &got); err != nil {
			t.Fatalf("%q: %v\n%q", text, err, out)
		}
		want := map[string]any{"mode": "plan", "profile": "minimal", "mcp_servers": map[string]any{
			"a": map[string]any{"command": "x"},
			"n": map[string]any{"command": text, "args": []any{text, "tail"}, "env": map[string]any{"K" + text: text}, "disabled": true},
		}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q: %s\n%q", text, diff, out)
		}
		if back, did, err := RemoveEntry(out, "mcp_servers", "n"); err != nil || !did || string(back) != base {
			t.Fatalf("%q: %v\n%q", text, err, back)
		}
	}
	for _, text := range []string{
		"a\nb\u2028mode: yolo\u2028", "a\nb\u2028    disabled: false\u2028", "a\n\u2028  zz:\u2028    command: evil\n",
		"a\u0085mode: yolo", "a\rmode: yolo", "\ufeff", "\x00", "\x1b[2J", "\u2029", "true", "7", "~", "", "!!binary eA==", "é",
	} {
		hold(t, text)
	}
	pieces := rapid.SampledFrom([]string{
		"a", "\n", "\r", "\u2028", "\u2029", "\u0085", " ", "  ", "x: y", "\u2028    disabled: false", "\u2028mode: yolo",
		"\u2028  z:\u2028    command: evil", "b\n", "- ", "#", "\t", "'", "\"", "|", "${X}", "\ufeff", "\x00", "\x1b", "---", "...",
		"!!", "&a", "*a", "{", "}", ":", "%", "\\", "?", "<<",
	})
	rapid.Check(t, func(t *rapid.T) {
		hold(t, strings.Join(rapid.SliceOfN(pieces, 0, 7).Draw(t, "pieces"), ""))
	})
	for name, bad := range map[string]any{"not UTF-8": "\xff", "no number": math.NaN(), "a list of anything": []any{"x"}} {
		if out, err := SetEntry([]byte(base), "mcp_servers", "n", map[string]any{"command": bad}); err == nil {
			t.Errorf("%s was written:\n%s", name, out)
		}
	}
}

// TestEntry: what is read is what stands there.
func TestEntry(t *testing.T) {
	text := []byte("mcp_servers:\n  a:\n    command: x\n    args: [y]\n")
	got, there, err := Entry(text, "mcp_servers", "a")
	if diff := cmp.Diff(map[string]any{"command": "x", "args": []any{"y"}}, got); err != nil || !there || diff != "" {
		t.Errorf("%v, %v: %s", there, err, diff)
	}
	for _, at := range [][2]string{{"mcp_servers", "b"}, {"other", "a"}} {
		if got, there, err := Entry(text, at[0], at[1]); err != nil || there {
			t.Errorf("%v: %v, %v", at, got, err)
		}
	}
	if _, _, err := Entry([]byte("a: [\n"), "mcp_servers", "a"); err == nil {
		t.Error("a broken file was read")
	}
}

// TestEditKeepsTheRest: whatever is put in and taken out, every other setting
// says what it said.
func TestEditKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte("# a file\nmode: plan\nlimits:\n  timeout: 5s # short\n")
		held := map[string]bool{}
		names := rapid.SampledFrom([]string{"a", "b-c", "d e", "x: y", "é", "true", "7"})
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			name := names.Draw(t, "name")
			var err error
			if rapid.Bool().Draw(t, "put") {
				text, err = SetEntry(text, "mcp_servers", name, map[string]any{"url": "http://" + name, "args": []string{"#", "- x", "${A}"}})
				held[name] = true
			} else {
				text, _, err = RemoveEntry(text, "mcp_servers", name)
				delete(held, name)
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
		}
		var got struct {
			Mode    string
			Limits  map[string]string
			Servers map[string]struct {
				URL  string
				Args []string
			} `yaml:"mcp_servers"`
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if got.Mode != "plan" || got.Limits["timeout"] != "5s" || len(got.Servers) != len(held) || !strings.HasPrefix(string(text), "# a file\n") || !strings.Contains(string(text), "# short") {
			t.Fatalf("%+v\n%s", got, text)
		}
		for name := range held {
			if s := got.Servers[name]; s.URL != "http://"+name || len(s.Args) != 3 {
				t.Fatalf("%s: %+v\n%s", name, s, text)
			}
		}
	})
}

// FuzzEdit: whatever file it is, a change is made so that the entry can be read
// back as it was given and taken out again, or the file is refused.
func FuzzEdit(f *testing.F) {
	for _, text := range []string{"", "a: 1\n", "mcp_servers:\n  x: {url: y}\n", "mcp_servers: {}\n# c\n", "mcp_servers:\n  s:\n    url: |\n      x\n  t: {}\n", "- a\n", "a: [\n", "\ufeffmcp_servers: # mine\r\n  b: {}\r\n"} {
		f.Add([]byte(text), "v\u2028w\n#")
	}
	f.Fuzz(func(t *testing.T, text []byte, value string) {
		if len(text) > 4096 || len(value) > 512 {
			return
		}
		given := map[string]any{"url": value, "args": []string{value, "-x"}}
		out, err := SetEntry(append([]byte(nil), text...), "mcp_servers", "s", given)
		if err != nil {
			return
		}
		var got struct {
			Servers map[string]any `yaml:"mcp_servers"` // the others may be anything
		}
		err = yaml.Unmarshal(out, &got)
		if entry, ok := got.Servers["s"].(map[string]any); err != nil || !ok || entry["url"] != value || len(entry) != 2 {
			t.Fatalf("%q with %q became %q: %+v, %v", text, value, out, got, err)
		}
		if _, removed, err := RemoveEntry(out, "mcp_servers", "s"); err != nil || !removed {
			t.Errorf("%q cannot be taken out again: %v, %v", out, removed, err)
		}
	})
}
