package mcphub

import (
	"strings"
	"testing"
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
