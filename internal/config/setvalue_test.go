package config

import (
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

type setBlock struct {
	Mode  string        `yaml:"mode" enum:"a,b" doc:"x."`
	Time  time.Duration `yaml:"time" doc:"x."`
	On    bool          `yaml:"on" doc:"x."`
	List  []string      `yaml:"list" doc:"x."`
	Text  string        `yaml:"text" doc:"x."`
	Key   string        `yaml:"key" secret:"true" doc:"x."`
	Inner struct {
		Deep struct {
			N int `yaml:"n" doc:"x."`
		} `yaml:"deep" doc:"x."`
	} `yaml:"inner" doc:"x."`
	Named map[string]struct {
		Size int `yaml:"size" doc:"x."`
	} `yaml:"named" doc:"x."`
}

func TestSetValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, key, value, want string }{
		{"", "mode", "a", "mode: a\n"},
		{"# mine\nmode: a   # why\nlist: [x]\n", "mode", "b", "# mine\nmode: b   # why\nlist: [x]\n"},
		{"mode: a", "on", "true", "mode: a\non: true\n"},
		{"mode: a\r\n", "time", "2m", "mode: a\r\ntime: 2m\r\n"},
		{"text: \"a # b\" # c\n", "text", "x: y", "text: 'x: y' # c\n"},
		{"text: x\n", "text", "yes", "text: yes\n"},
		{"text: x\n", "text", "1", "text: \"1\"\n"},
		{"list: [a, 'b # c'] # d\n", "list", "[e]", "list: [e] # d\n"},
		{"", "list", "a, b", "list: [a, b]\n"},
		{"", "list", `["*.{a,b}", '[c]']`, "list: [\"*.{a,b}\", '[c]']\n"},
		{"", "list", "", "list: []\n"},
		{"", "on", "yes", "on: true\n"},
		{"inner:\n  # deep things\n  deep:\n    n: 1 # one\n", "inner.deep.n", "2", "inner:\n  # deep things\n  deep:\n    n: 2 # one\n"},
		{"inner:\nmode: a\n", "inner.deep.n", "2", "inner:\n  deep:\n    n: 2\nmode: a\n"},
		{"mode: a\n", "inner.deep.n", "2", "mode: a\ninner:\n  deep:\n    n: 2\n"},
		{"named:\n  x:\n    size: 1\n", "named.y.size", "3", "named:\n  y:\n    size: 3\n  x:\n    size: 1\n"},
		{"named:\n  x:\n    size: 1\n", `named["a b"].size`, "3", "named:\n  a b:\n    size: 3\n  x:\n    size: 1\n"},
	} {
		got, err := SetValue[setBlock]([]byte(c.file), c.key, c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%q %s=%s: %q %v, want %q", c.file, c.key, c.value, got, err, c.want)
		}
	}
}

func TestSetValueRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, key, value, say string }{
		{"", "moed", "a", "Did you mean: mode"},
		{"", "inner.dep.n", "1", "Did you mean: inner.deep"},
		{"", "inner.moed", "a", "Did you mean: mode"},
		{"", "iner.mode", "a", "Did you mean: mode"},
		{"", "mode", "c", "mode"},
		{"", "time", "soon", "time"},
		{"", "key", "hunter2", "toolcrib secret set"},
		{"", "mode.x", "1", "nothing stands below"},
		{"", "list", "*.{a,b}", "'[\"a,b\"]'"},
		{"", "list", "{a: b}", "expected a list"},
		{"", "inner.deep", "[1]", "write it as a block on one line"},
		{"", "inner.deep", "{m: 1}", "unknown key"},
		{"list:\n  - a # keep me\n", "list", "[b]", "toolcrib config edit"},
		{"text: |\n  long\n", "text", "x", "toolcrib config edit"},
		{"inner: {deep: {n: 1}}\n", "inner.deep.n", "2", "toolcrib config edit"},
		{"text: &a x\nmode: a\n", "text", "y", "toolcrib config edit"},
		{"mode: [", "mode", "a", "left as it is"},
	} {
		got, err := SetValue[setBlock]([]byte(c.file), c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q %s=%s: %q, %v, want %q", c.file, c.key, c.value, got, err, c.say)
		}
	}
}

// Whatever a file holds, a change says exactly the one thing, or nothing is changed.
func FuzzSetValue(f *testing.F) {
	f.Add("# x\nmode: a # b\ninner:\n  deep:\n    n: 1\n", "inner.deep.n", "7")
	f.Add("text: 'a' #c\nlist: [a,\n b]\n", "text", "b: #x")
	f.Add("{mode: a, text: b}", "text", "c")
	f.Add("named: {}\n", "named.x.size", "1")
	f.Fuzz(func(t *testing.T, file, key, value string) {
		got, err := SetValue[setBlock]([]byte(file), key, value)
		if err != nil {
			return
		}
		var before, after map[any]any
		if yaml.Unmarshal([]byte(file), &before) != nil || yaml.Unmarshal(got, &after) != nil {
			t.Fatalf("%q became %q", file, got)
		}
		for name, was := range before {
			if s, ok := name.(string); ok && !strings.HasPrefix(key, s) {
				a, _ := yaml.Marshal(was)
				b, _ := yaml.Marshal(after[name])
				if string(a) != string(b) {
					t.Fatalf("%s: %q became %q", s, a, b)
				}
			}
		}
	})
}

func TestKeysAndValues(t *testing.T) {
	t.Parallel()
	if keys := Keys[setBlock](); len(keys) < 8 {
		t.Error(keys)
	}
	for key, n := range map[string]int{"mode": 2, "on": 2, "text": 0, "nothing": 0, "named.x.size": 0} {
		if words := Values[setBlock](key); len(words) != n {
			t.Errorf("%s: %v", key, words)
		}
	}
}
