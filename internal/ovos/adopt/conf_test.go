package adopt

import (
	"reflect"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/ovos/host"
)

// TestSwitchOff: the plugin is off afterwards, every other line is there as before,
// and what was written can be taken out again.
func TestSwitchOff(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"only comments":   "// nothing yet\n# no\n",
		"no new line":     "// nothing yet",
		"empty":           "{}\n",
		"empty, lines":    "{\n}\n",
		"other":           "{\n  \"lang\": \"de-de\",\n  // the bus\n  \"websocket\": {\"port\": 8181}\n}\n",
		"one line":        `{"lang": "de-de", "PHAL": {"other": {}}}`,
		"PHAL null":       "{\n  \"PHAL\": null\n}\n",
		"plugin empty":    "{\n\t\"PHAL\": {\n\t\t\"ovos-phal-plugin-tools\": {}\n\t}\n}\n",
		"plugin comment":  "{\n  \"PHAL\": {\n    \"ovos-phal-plugin-tools\": {\n      // nothing\n    }\n  }\n}\n",
		"enabled":         "{\n  \"PHAL\": {\n    \"ovos-phal-plugin-tools\": {\n      \"enabled\": true, \"x\": {\"enabled\": true}\n    }\n  }\n}\n",
		"enabled last":    "{\"PHAL\": {\"ovos-phal-plugin-tools\": {\"x\": {},\n \"enabled\" : true}}}",
		"enabled twice":   "{\"PHAL\": {\"ovos-phal-plugin-tools\": {\"enabled\": true, \"x\": {}, \"enabled\": true}}}",
		"enabled alone":   "{\"PHAL\": {\"ovos-phal-plugin-tools\": {\"enabled\": true}}}",
		"a word":          "{\"PHAL\": {\"ovos-phal-plugin-tools\": {\"enabled\": \"yes\"}}}",
		"Windows":         "{\r\n  \"PHAL\": {\r\n    # x\r\n    \"ovos-phal-plugin-tools\": {\r\n      \"a\": {\"b\": 1}\r\n    }\r\n  }\r\n}\r\n",
		"byte order mark": "\ufeff{\n  \"a\": 1\n}\n",
		"PHAL twice":      "{\"PHAL\": {\"a\": {}}, \"PHAL\": {\"b\": {}}}",
		"braces in texts": "{\n  \"a\": \"}{\\\"PHAL\\\": {\",\n  \"PHAL\": {\"x\": [1, {\"y\": \"]\"}], \"ovos-phal-plugin-tools\": {\"s\": \"//\"}}\n}\n",
		"escaped":         "{\"PH\\u0041L\": {\"ovos-phal-plugin-tools\": {\"s\": {}}}}",
		"large number":    "{\"n\": 123456789012345678901234567890, \"PHAL\": {}}",
	} {
		t.Run(name, func(t *testing.T) {
			was := enabledIn([]byte(text))
			out, err := switchOff([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			m, err := host.ReadMycroft(out)
			if err != nil || m.Disabled {
				t.Errorf("we are off too: %v, %s", err, out)
			}
			all, err := decoded(out)
			if err != nil {
				t.Fatal(err)
			}
			if plugin := sub(sub(all, "PHAL"), host.ToolsPlugin); plugin["enabled"] != false {
				t.Errorf("the plugin is on: %s", out)
			}
			for line := range strings.Lines(text) {
				if start := strings.TrimSpace(line); (strings.HasPrefix(start, "//") || strings.HasPrefix(start, "#")) && !strings.Contains(string(out), strings.TrimRight(line, "\r\n")) {
					t.Errorf("the comment %q is lost: %s", line, out)
				}
			}
			again, err := switchOff(out)
			if err != nil || string(again) != string(out) {
				t.Errorf("twice: %v, %s", err, again)
			}
			back, err := switchBack(out, was)
			if err != nil {
				t.Fatal(err)
			}
			before, err := decoded([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			after, err := decoded(back)
			if err != nil {
				t.Fatal(err)
			}
			if p, is := before["PHAL"].(map[string]any); !is || p == nil { // it stays, and is empty
				before["PHAL"] = map[string]any{}
			}
			_ = sub(sub(before, "PHAL"), host.ToolsPlugin)
			if !reflect.DeepEqual(before, after) {
				t.Errorf("taken out again it says\n%s", back)
			}
		})
	}
}

func TestSwitchOffRefuses(t *testing.T) {
	for _, text := range []string{"[]", "{", "{} {}", `{"a": 1,}`, "null", `{"a": 1} // a comment behind`, "\x00", `{"PHAL": {"ovos-phal-plugin-tools": {`} {
		if out, err := switchOff([]byte(text)); err == nil {
			t.Errorf("%q became %q", text, out)
		}
	}
}

// TestSwitchOffKeepsBytes: what is added is added, and nothing else is touched.
func TestSwitchOffKeepsBytes(t *testing.T) {
	text := "{\n  // mine\n  \"PHAL\":   {\n    \"ovos-phal-plugin-tools\" : {\n      # odd   \n      \"ovos-shell-tools\": {\"allow_shell\":true ,  \"max_timeout\": 1e1}\n    }\n  }\n}"
	out, err := switchOff([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Replace(string(out), "\n      \"enabled\": false,\n      \"served_by\": \"toolcrib\",", "", 1); got != text {
		t.Errorf("got\n%s", out)
	}
}

// FuzzSwitchOff: no file makes it panic, what it gives says what it should, and the
// way back gives the settings that were there.
func FuzzSwitchOff(f *testing.F) {
	f.Add("{\n  // c\n  \"PHAL\": {\"ovos-phal-plugin-tools\": {\"enabled\": true}}\n}\n")
	f.Add("{\"PHAL\": null}")
	f.Add("# x\n{}\n// y")
	f.Add("\ufeff{\"a\": [1, {\"b\": \"//\"}]}")
	f.Fuzz(func(t *testing.T, text string) {
		was := enabledIn([]byte(text))
		out, err := switchOff([]byte(text))
		if err != nil {
			return
		}
		again, err := switchOff(out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("twice: %v, %q", err, again)
		}
		if _, err := switchBack(out, was); err != nil && !strings.Contains(err.Error(), "by hand") {
			t.Fatalf("%v: %q", err, out)
		}
	})
}

func FuzzEntryPoints(f *testing.F) {
	f.Add("[opm.agents.toolbox]\nmy-tools = a.b:C\n# x\n[opm.phal]\novos-phal-plugin-tools=x:Y\n")
	f.Fuzz(func(t *testing.T, text string) {
		for group, names := range entryPoints([]byte(text)) {
			for _, name := range names {
				if group == "" || name == "" || strings.ContainsAny(name, "=\n") {
					t.Fatalf("%q: %q", group, name)
				}
			}
		}
	})
}
