package mcphub

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestReason: of what a program wrote before it ended, the line that says why.
func TestReason(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"one line", "no licence found\n", "no licence found"},
		{"Node", `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/srv/index.js'
    at Function._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:36:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: []
}

Node.js v22.14.0
`, "Error: Cannot find module '/srv/index.js'"},
		{"Node, thrown by a server", `file:///srv/dist/index.js:12
    throw new TypeError("GITHUB_TOKEN is not set");
          ^

TypeError: GITHUB_TOKEN is not set
    at main (file:///srv/dist/index.js:12:11)

Node.js v22.14.0
`, "TypeError: GITHUB_TOKEN is not set"},
		{"Node, with a code", "TypeError [ERR_INVALID_URL]: Invalid URL\n    at new URL (node:internal/url:816:29)\n\nNode.js v22", "TypeError [ERR_INVALID_URL]: Invalid URL"},
		{"Python", "Traceback (most recent call last):\n  File \"/srv/a.py\", line 1, in <module>\n    import nothing\nModuleNotFoundError: No module named 'nothing'\n", "ModuleNotFoundError: No module named 'nothing'"},
		{"npm", "npm error code E404\nnpm error 404 Not Found - GET https://example.com/x - Not found\nnpm error 404\nnpm error 404  'x@*' is not in this registry.\nnpm error 404\nnpm error 404 Note that you can also install from a\nnpm error 404 tarball, folder, http url, or git folder.\nnpm error A complete log of this run can be found in: /tmp/x.log\n", "npm error 404 Not Found - GET https://example.com/x - Not found"},
		{"a usage", "error: the following required arguments were not provided:\n  <DIR>\n\nUsage: server <DIR>\n", "error: the following required arguments were not provided:"},
		{"a server that greets", "Server running on stdio\n", "Server running on stdio"},
		{"Go", "panic: no such host\n\ngoroutine 1 [running]:\nmain.main()\n\t/srv/main.go:5 +0x1d\n", "panic: no such host"},
		{"only closing words", "Node.js v22.14.0\n", "Node.js v22.14.0"},
		{"long", "Error: " + strings.Repeat("x", 1000), "Error: " + strings.Repeat("x", 293) + "…"},
	} {
		var tail tail
		if _, err := tail.Write([]byte(c.text)); err != nil {
			t.Fatal(err)
		}
		if got := tail.reason(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	var tail tail
	for _, said := range []string{"Error: API_KEY is missing\n", "the port is taken\n"} {
		tail.begin()
		if _, err := tail.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
	}
	if got := tail.reason(); got != "the port is taken" {
		t.Errorf("of the second program: %q", got)
	}
}

// FuzzReason: whatever a program writes in whatever pieces, the reason is one short
// line of what it wrote last, and one that says error goes before one that does not.
func FuzzReason(f *testing.F) {
	f.Add("before\n", "Error: no\n    at x\n\nNode.js v22\n", 3)
	f.Add("", "\xff\xfe\r\n\r\n", 1)
	f.Add("Error: of the program before\n", "started\n", 0)
	f.Add("", strings.Repeat("x", 70_000)+"\nfatal: y", 4096)
	f.Fuzz(func(t *testing.T, before, text string, piece int) {
		var kept tail
		_, _ = kept.Write([]byte(before)) // never fails
		kept.begin()
		for rest := text; rest != ""; {
			n := min(max(piece, len(text)/64+1), len(rest))
			_, _ = kept.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		got := kept.reason()
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > 301 || strings.Contains(got, "\n") || got != strings.TrimSpace(got) {
			t.Fatalf("%q of %q", got, text)
		}
		if len(kept.text) > tailMost || len(kept.String()) > 3*tailMost {
			t.Errorf("%d bytes are kept", len(kept.text))
		}
		end := strings.ToValidUTF8(text[max(0, len(text)-tailMost):], "�")
		if !strings.Contains(end, strings.TrimSuffix(got, "…")) {
			t.Errorf("%q is not in %q", got, end)
		}
		lines := strings.Split(strings.TrimSpace(end), "\n")
		for _, line := range lines[max(0, len(lines)-reasonFar):] {
			if line = strings.TrimSpace(line); saysError.MatchString(line) && !closing.MatchString(line) && !saysError.MatchString(got) {
				t.Errorf("%q says error, and the reason is %q", line, got)
			}
		}
		if strings.TrimSpace(end) != "" && got == "" {
			t.Errorf("nothing of %q", end)
		}
	})
}
