package config

import (
	"strings"
	"testing"
)

type apartSettings struct {
	Names  []string `yaml:"names" entries:"names" doc:"x."`
	Places []string `yaml:"places" entries:"places" doc:"x."`
	Free   []string `yaml:"free" doc:"x."`
}

// TestEntriesApart: a list that somebody wrote with another sign between its entries than a comma
// is an error with the form to write, and never one entry that nothing has the name of.
func TestEntriesApart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value, want string }{
		{"names", "write_file delete_file", "write_file,delete_file"},
		{"names", "write_file\tdelete_file", ""}, // a character that cannot be seen, which is an error of its own
		{"names", "a;b", "a,b"},
		{"names", "a:b", "a,b"},
		{"names", "a, b c", "b,c"},
		{"names", "[a b]", "a,b"},
		{"names", "group:web fs", "web,fs"},
		{"places", ".a .b", ".a,.b"},
		{"places", ".a;.b", ".a,.b"},
		{"places", ".a:.b", ".a,.b"},
		{"places", "~/.x:/y", "~/.x,/y"},
		{"places", "secrets *.pem", "secrets,*.pem"},
		{"places", "a.txt b.txt", "a.txt,b.txt"},
		{"places", "[.a .b]", ".a,.b"},
		{"places", "keys ok", "keys,ok for these, or ['keys ok'] for one"},
		{"places", "keys:ok", "keys,ok"},
		{"places", "key:a b", "a,b"},
		{"places", "My Notes.txt", "['My Notes.txt']"},
		{"places", "~/My Files/x y.txt", "['~/My Files/x y.txt']"},
		{"places", "secret.txt|ok/a.txt", "secret.txt,ok/a.txt"},
		{"places", "secret.txt&ok/a.txt", "secret.txt,ok/a.txt"},
		{"places", "$PWD/ok/a.txt", "['$PWD/ok/a.txt']"},
		{"places", "(ok/a.txt)", "write ok/a.txt, or ['(ok/a.txt)']"},
		{"places", `ok\a.txt`, `write ok/a.txt, or ['ok\a.txt']`},
		{"places", `key:ok\a.txt`, "write key:ok/a.txt"},
		{"places", "a.txt,ok&", "write ok,"},
		{"places", "f(x *)", "['f(x *)']"},
		{"places", `[ok\a.txt]`, "ok/a.txt"},
	} {
		_, err := SetValue[apartSettings](nil, c.key, c.value)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
	}
	for _, c := range []struct{ key, value string }{
		{"names", "write_file,delete_file"}, {"names", "math/*"}, {"names", "group:web"}, {"names", `["a b"]`}, {"names", "['a:b']"}, {"names", ""}, {"names", "[]"},
		{"places", "['My Notes.txt']"}, {"places", "['~/My Files/x y.txt']"}, {"places", `["f(x *)", 'ok\a.txt', '$x', 'a|b']`}, {"places", "key:*.pem"}, {"places", `C:\x\y`}, {"places", "C:/x"}, {"places", "['.a .b']"}, {"places", ".a,.b"},
		{"free", "run_command(go test *)"}, {"free", "a;b"}, {"free", "a:b c"},
	} {
		if _, err := SetValue[apartSettings](nil, c.key, c.value); err != nil {
			t.Errorf("%s=%s: %v", c.key, c.value, err)
		}
	}
}
