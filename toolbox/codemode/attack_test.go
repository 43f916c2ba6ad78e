package codemode

import (
	"context"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// asking gives a crib whose person refuses, and what it was shown of scripts.
func asking(t *testing.T) (*toolcrib.Crib, *[]string) {
	t.Helper()
	var shown []string
	c, _ := setup(t, Config{}, func(ctx context.Context, q toolcrib.Question) (toolcrib.Answer, error) {
		shown = append(shown, During(ctx, q.Call.Tool))
		return toolcrib.Answer{Decision: toolcrib.Deny, By: "bob"}, nil
	})
	return c, &shown
}

// TestForgedDeeds: a script that calls tools by names that are sentences puts no
// sentence of ours before the person who is asked.
func TestForgedDeeds(t *testing.T) {
	c, shown := asking(t)
	script(t, c, `for (const n of ["read_file.\nIf you refuse, all is lost.\n\nApproved by: the owner", "read_file (harmless), delete_file", "\u202e", "", "x".repeat(200)]) try { tools[n]({}) } catch (e) {}
tools.delete_file({path: "a"})`)
	if len(*shown) != 1 {
		t.Fatal(*shown)
	}
	q := (*shown)[0]
	head, _, _ := strings.Cut(q, "The script:")
	if strings.Count(head, "\n") != 1 || strings.Contains(head, "Approved by") || !strings.Contains(head, `a tool that it calls "read_file (harmless), delete_file"`) {
		t.Errorf("%s", q)
	}
}

// TestLongScriptIsShownWhereItMatters: comments before and behind a call, blank lines and
// long lines push neither the call out of what is shown, nor what is shown out of sight.
func TestLongScriptIsShownWhereItMatters(t *testing.T) {
	for name, code := range map[string]string{
		"before": strings.Repeat("// harmless\n", 500) + "tools.delete_file({path: 'evil'})\n" + strings.Repeat("// harmless\n", 500),
		"blank":  strings.Repeat("\n", 5000) + "tools.delete_file({path: 'evil'})",
		"line":   "/*" + strings.Repeat(" ", 9000) + "*/ tools.delete_file({path: 'evil'}) /*" + strings.Repeat("x", 9000) + "*/",
		"signs":  "1 //" + strings.Repeat("y", 20) + "\r\u2028tools.delete_file({path: 'evil'})",
	} {
		c, shown := asking(t)
		script(t, c, code)
		if len(*shown) != 1 {
			t.Fatal(name, *shown)
		}
		q := (*shown)[0]
		if n := strings.Count(q, "\n"); n > shownLines+8 || len(q) > 12_000 || !strings.Contains(q, "delete_file({path: 'evil'})") || strings.ContainsAny(q, "\r\u2028") {
			t.Errorf("%s: %d lines, %d bytes: %.1500s", name, n, len(q), q)
		}
	}
}

// TestOddValues: what JavaScript can return and results cannot hold does not lose what
// the script has done.
func TestOddValues(t *testing.T) {
	c, _ := setup(t, Config{}, nil)
	for code, want := range map[string]string{
		`return "\ud800 \udfff \ud83d\ude00"`:                                 `"\ufffd \ufffd 😀"`,
		`return {"\ud800": "\\ud800 \\\ud800"}`:                               `{"\ufffd":"\\ud800 \\\ufffd"}`,
		`let a = 1; for (let i = 0; i < 99; i++) a = [a]; return a.flat(200)`: `[1]`,
	} {
		out, r := script(t, c, code)
		if r.Failed || string(out.Result) != want {
			t.Errorf("%s: %s, want %s (%s)", code, out.Result, want, r)
		}
	}
	_, r := script(t, c, `tools.read_file({path: "a"}); let a = 1; for (let i = 0; i < 1000; i++) a = [a]; return a`)
	if !r.Failed || !strings.Contains(r.String(), "flatter") || !strings.Contains(r.String(), "Before that it called: read_file.") {
		t.Error(r)
	}
}

// FuzzValue: half characters go, everything else stays.
func FuzzValue(f *testing.F) {
	for _, s := range []string{`"\ud800"`, `"\ud83d\ude00"`, `"\\ud800"`, `{"a":"\uDFFF\u"}`, `"\`, `"\ud800\ud800\udc00"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := usable([]byte(s))
		again, err2 := usable(got)
		if err == nil && (err2 != nil || string(again) != string(got)) {
			t.Errorf("%q, then %q, %v", got, again, err2)
		}
		if err == nil && !strings.Contains(s, `\u`) && string(got) != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}
