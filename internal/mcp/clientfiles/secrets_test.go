package clientfiles

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The credentials here are made up, and put together so that no scanner takes
// this file for a leak.
func fakeKey() string { return "ghp" + "_" + strings.Repeat("aB3", 12) }

func TestSecrets(t *testing.T) {
	key := fakeKey()
	tests := []struct {
		name  string
		in    Server
		want  Server
		found []Found
	}{
		{
			"env by name", Server{Env: map[string]string{"GITHUB_TOKEN": "s3cret", "LEVEL": "debug", "EMPTY_TOKEN": ""}},
			Server{Env: map[string]string{"GITHUB_TOKEN": "${secret:gh-GITHUB_TOKEN}", "LEVEL": "debug", "EMPTY_TOKEN": ""}},
			[]Found{{"gh-GITHUB_TOKEN", "s3cret", "env.GITHUB_TOKEN"}},
		},
		{
			"a command behind the name of a secret", Server{Args: []string{"-c", "PASSWORD=hunter2; touch MARK; exec cat", "--token", "x$(touch${IFS}MARK)", "--api-key", "s3cret9Q"}},
			Server{
				Args:  []string{"-c", "PASSWORD=hunter2; touch MARK; exec cat", "--token", "x$(touch${IFS}MARK)", "--api-key", "${secret:gh-api-key}"},
				Notes: []string{"args[1] may hold a secret, and could be code too: it stays as it is; put the secret into the vault yourself"},
			},
			[]Found{{"gh-api-key", "s3cret9Q", "args[5]"}},
		},
		{
			"env by look", Server{Env: map[string]string{"THING": key, "LIST": "a," + key + ",b"}},
			Server{Env: map[string]string{"THING": "${secret:gh-THING}", "LIST": "a,${secret:gh-LIST},b"}},
			[]Found{{"gh-LIST", key, "env.LIST"}, {"gh-THING", key, "env.THING"}},
		},
		{
			"env by hint", Server{Env: map[string]string{"LINEAR_KEY": "lin0123456789abcdef", "SORT_KEY": "name"}},
			Server{Env: map[string]string{"LINEAR_KEY": "${secret:gh-LINEAR_KEY}", "SORT_KEY": "name"}},
			[]Found{{"gh-LINEAR_KEY", "lin0123456789abcdef", "env.LINEAR_KEY"}},
		},
		{
			"no secrets", Server{Env: map[string]string{
				"MAX_TOKENS": "4096", "USE_TOKEN": "true", "GOOGLE_APPLICATION_CREDENTIALS": "/home/me/key.json", "KEY_PASSWORD": "~/x",
				"A_TOKEN": "${A_TOKEN}", "B_TOKEN": "${secret:b}", "C_TOKEN": "${C:-}", "D_TOKEN": "pre${D}",
			}},
			Server{Env: map[string]string{
				"MAX_TOKENS": "4096", "USE_TOKEN": "true", "GOOGLE_APPLICATION_CREDENTIALS": "/home/me/key.json", "KEY_PASSWORD": "~/x",
				"A_TOKEN": "${A_TOKEN}", "B_TOKEN": "${secret:b}", "C_TOKEN": "${C:-}", "D_TOKEN": "pre${D}",
			}}, nil,
		},
		{
			"placeholders", Server{Env: map[string]string{"A_TOKEN": "<your token>", "B_TOKEN": "YOUR_TOKEN_HERE", "C_TOKEN": "xxxx"}},
			Server{
				Env:   map[string]string{"A_TOKEN": "<your token>", "B_TOKEN": "YOUR_TOKEN_HERE", "C_TOKEN": "xxxx"},
				Notes: []string{"env.A_TOKEN is a placeholder, not a secret", "env.B_TOKEN is a placeholder, not a secret", "env.C_TOKEN is a placeholder, not a secret"},
			}, nil,
		},
		{
			"a default", Server{
				Env:     map[string]string{"A_TOKEN": "${A_TOKEN:-s3cret}", "API_KEY": "${API_KEY:-none}", "DB": "${DB:-pg://u:hunter2@h/d}", "HOST": "${HOST:-x}"},
				Headers: map[string]string{"X-Api-Key": "${KEY:-none}", "Authorization": "Bearer ${T:-none}"},
				Args:    []string{"--api-key", "${API_KEY:-none}", "--token=${T:-null}"},
			},
			Server{
				Env:     map[string]string{"A_TOKEN": "${A_TOKEN:-${secret:gh-A_TOKEN}}", "API_KEY": "${API_KEY:-none}", "DB": "${DB:-${secret:gh-DB}}", "HOST": "${HOST:-x}"},
				Headers: map[string]string{"X-Api-Key": "${KEY:-none}", "Authorization": "Bearer ${T:-none}"},
				Args:    []string{"--api-key", "${API_KEY:-none}", "--token=${T:-null}"},
			}, []Found{{"gh-A_TOKEN", "s3cret", "env.A_TOKEN"}, {"gh-DB", "pg://u:hunter2@h/d", "env.DB"}},
		},
		{
			"headers", Server{Headers: map[string]string{"Authorization": "Bearer s3cret", "X-Api-Key": "k", "Cookie": "sid=1", "Accept": "a/b", "X-Ref": "Bearer ${T}"}},
			Server{Headers: map[string]string{"Authorization": "Bearer ${secret:gh-Authorization}", "X-Api-Key": "${secret:gh-X-Api-Key}", "Cookie": "${secret:gh-Cookie}", "Accept": "a/b", "X-Ref": "Bearer ${T}"}},
			[]Found{{"gh-Authorization", "s3cret", "headers.Authorization"}, {"gh-Cookie", "sid=1", "headers.Cookie"}, {"gh-X-Api-Key", "k", "headers.X-Api-Key"}},
		},
		{
			"args", Server{Command: "docker", Args: []string{"run", "--token", "s3cret", "--api-key=k", "-e", "DB_PASSWORD=p=q", "--env=MY_TOKEN=t", "--header", "Authorization: Bearer h", "--verbose", "--name", "x", "PLAIN=1"}},
			Server{Command: "docker", Args: []string{
				"run", "--token", "${secret:gh-token}", "--api-key=${secret:gh-api-key}", "-e", "DB_PASSWORD=${secret:gh-DB_PASSWORD}", "--env=MY_TOKEN=${secret:gh-MY_TOKEN}",
				"--header", "Authorization: Bearer ${secret:gh-Authorization}", "--verbose", "--name", "x", "PLAIN=1",
			}},
			[]Found{
				{"gh-token", "s3cret", "args[2]"}, {"gh-api-key", "k", "args[3]"}, {"gh-DB_PASSWORD", "p=q", "args[5]"},
				{"gh-MY_TOKEN", "t", "args[6]"}, {"gh-Authorization", "h", "args[8]"},
			},
		},
		{
			"args stay", Server{Args: []string{"--token", "--other", "--password=${P}", "--key", "${secret:k}", "https://x.example/a?b=c", "a:b", "C:\\x"}},
			Server{Args: []string{"--token", "--other", "--password=${P}", "--key", "${secret:k}", "https://x.example/a?b=c", "a:b", "C:\\x"}}, nil,
		},
		{
			"mcp-remote", Server{Args: []string{"mcp-remote", "https://x.example/sse", "--header", "Authorization:$${AUTH}"}, Env: map[string]string{"AUTH": "Bearer s3cret"}},
			Server{Args: []string{"mcp-remote", "https://x.example/sse", "--header", "Authorization:$${AUTH}"}, Env: map[string]string{"AUTH": "Bearer ${secret:gh-AUTH}"}},
			[]Found{{"gh-AUTH", "s3cret", "env.AUTH"}},
		},
		{
			"addresses", Server{URL: "https://me:pa%20ss@x.example/v1/" + key + "/mcp?b=1&token=t%2F1#f", Env: map[string]string{"DATABASE_URL": "postgres://u:pw@db/x", "OTHER_URL": "https://u@h/p"}},
			Server{
				URL: "https://me:${secret:gh-url-password}@x.example/v1/${secret:gh-url-path}/mcp?b=1&token=${secret:gh-token}#f",
				Env: map[string]string{"DATABASE_URL": "postgres://u:${secret:gh-DATABASE_URL-password}@db/x", "OTHER_URL": "https://u@h/p"},
			},
			[]Found{
				{"gh-DATABASE_URL-password", "pw", "env.DATABASE_URL"}, {"gh-url-password", "pa%20ss", "url"}, {"gh-url-path", key, "url"}, {"gh-token", "t%2F1", "url"},
			},
		},
		{
			"address with variables", Server{URL: "https://${U}:${P}@${HOST:-a/b}/x?api_key=${K}"},
			Server{URL: "https://${U}:${P}@${HOST:-a/b}/x?api_key=${K}"}, nil,
		},
		{
			"same name twice", Server{Args: []string{"--token", "one", "--token", "two", "--token", "one"}},
			Server{Args: []string{"--token", "${secret:gh-token}", "--token", "${secret:gh-token-2}", "--token", "${secret:gh-token}"}},
			[]Found{{"gh-token", "one", "args[1]"}, {"gh-token-2", "two", "args[3]"}},
		},
		{
			"escaped", Server{Env: map[string]string{"A_TOKEN": "a$${b}c"}},
			Server{Env: map[string]string{"A_TOKEN": "${secret:gh-A_TOKEN}"}},
			[]Found{{"gh-A_TOKEN", "a${b}c", "env.A_TOKEN"}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.in.Name, tt.want.Name = "gh", "gh"
			got, found := Secrets(tt.in, nil)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("server (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			again, more := Secrets(got, nil)
			if len(more) != 0 || !cmp.Equal(again.Env, got.Env) {
				t.Errorf("a second time it found %v", more)
			}
		})
	}
}

func TestSecretsAsksTheScanner(t *testing.T) {
	known := func(s string) bool { return s == "squeamish" || s == "two words" }
	s := Server{Name: "a", Env: map[string]string{"X": "squeamish", "Y": "ossifrage", "Z": "two words"}, Args: []string{"squeamish"}}
	got, found := Secrets(s, known)
	want := map[string]string{"X": "${secret:a-X}", "Y": "ossifrage", "Z": "${secret:a-Z}"}
	if diff := cmp.Diff(want, got.Env); diff != "" || got.Args[0] != "${secret:a-arg}" || len(found) != 3 {
		t.Errorf("%s, %v, %v", diff, got.Args, found)
	}
	if s.Env["X"] != "squeamish" || s.Args[0] != "squeamish" {
		t.Error("the server that was given is changed")
	}
}

// TestSecretNames: whatever two servers and their keys are called, they do not share
// a secret. That the vault takes the names is a test of internal/hub.
func TestSecretNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if a != b && secretName(a) == secretName(b) {
			t.Fatalf("%q and %q are both %q", a, b, secretName(a))
		}
	})
	if secretName("my server-K") == secretName("my_server-K") {
		t.Error("two servers share a secret")
	}
}

// TestSecretsLeaveNothing: every value that was found can be put back where its
// reference stands, and gives the text that was there.
// Code that calls itself a password stays where the person who imports it sees it.
func TestSecretsHideNoCode(t *testing.T) {
	for _, args := range [][]string{
		{"-c", `password=__import__("os").system("touch\x20X")`},
		{"-Ic", `password=__import__("os").system("id")`},
		{"-e", `token=require("child_process").execSync("id")`},
		{"-e", "token=qx:reboot12345:"},
		{"-ne", "password=qx/reboot/"},
		{"--eval", "api_key=%x:reboot12345:"},
		{"--eval", "sk-qx/reboot1234567890/"},
		{`--eval=token=require("child_process").execSync("id")`},
		{"--password", `x"+__import__("os").system("id")`},
		{"-cpassword=__import__('os').system('id')"},
	} {
		got, found := Secrets(Server{Name: "x", Command: "python3", Args: args}, nil)
		if len(found) != 0 || !cmp.Equal(got.Args, args) {
			t.Errorf("%q: shown as %q, found %v", args, got.Args, found)
		}
	}
}

func TestSecretsLeaveNothing(t *testing.T) {
	texts := rapid.SampledFrom([]string{
		"", "x", "Bearer abc", fakeKey(), "https://u:p@h/x?token=1", "--token=z", "A_TOKEN=q", "${V}", "$${V}", "${secret:s}", "Authorization: Basic eA==", "a b " + fakeKey(), "${V:-w}x",
	})
	names := rapid.SampledFrom([]string{"TOKEN", "PATH", "API_KEY", "Authorization", "X"})
	rapid.Check(t, func(t *rapid.T) {
		s := Server{
			Name: "n", Args: rapid.SliceOf(texts).Draw(t, "args"), URL: texts.Draw(t, "url"),
			Env: rapid.MapOf(names, texts).Draw(t, "env"), Headers: rapid.MapOf(names, texts).Draw(t, "headers"),
		}
		got, found := Secrets(s, nil)
		values := map[string]string{}
		for _, f := range found {
			if old, twice := values[f.Name]; twice && old != f.Value {
				t.Fatalf("the name %s is for two values", f.Name)
			}
			values[f.Name] = f.Value
		}
		back := func(text string) string {
			var b strings.Builder
			for _, p := range references(text) {
				name := strings.TrimSuffix(strings.TrimPrefix(p.text, "${secret:"), "}")
				if v, ok := values[name]; ok && p.ref {
					b.WriteString(escape(v))
				} else {
					b.WriteString(p.text)
				}
			}
			return b.String()
		}
		for i := range s.Args {
			if back(got.Args[i]) != s.Args[i] {
				t.Fatalf("%q became %q", s.Args[i], got.Args[i])
			}
		}
		for k := range s.Env {
			if back(got.Env[k]) != s.Env[k] && !strings.Contains(s.Env[k], ":-") {
				t.Fatalf("%q became %q", s.Env[k], got.Env[k])
			}
		}
		for k := range s.Headers {
			if back(got.Headers[k]) != s.Headers[k] && !strings.Contains(s.Headers[k], ":-") {
				t.Fatalf("%q became %q", s.Headers[k], got.Headers[k])
			}
		}
		if back(got.URL) != s.URL {
			t.Fatalf("%q became %q", s.URL, got.URL)
		}
	})
}
