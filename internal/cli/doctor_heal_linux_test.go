package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sickbed is a home in which things are wrong.
type sickbed struct {
	t    *testing.T
	base string
	env  []string
}

func newSickbed(t *testing.T, files map[string]string) *sickbed {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &sickbed{t: t, base: base}
	for _, name := range []string{"tc", "work", "user"} {
		if err := os.MkdirAll(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(content, "BASE", base)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// sed takes the place of an editor in which a person mends what is wrong.
	s.env = append(os.Environ(), "HOME="+filepath.Join(base, "user"), "TOOLCRIB_HOME="+filepath.Join(base, "tc"), "EDITOR=sed -i -e s/efects/effects/", "VISUAL=", "TOOLCRIB_VAULT_KEY=", "GORACE=atexit_sleep_ms=0")
	return s
}

// shell runs a line as a person would type it.
func (s *sickbed) shell(line, stdin string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", line)
	cmd.Env, cmd.Dir, cmd.Stdin = s.env, filepath.Join(s.base, "work"), strings.NewReader(stdin)
	out, _ := cmd.CombinedOutput() // what it did is seen by the doctor
	return string(out)
}

// findings are those of a doctor in the same shell as what was typed before.
func (s *sickbed) findings(before, stdin string) []finding {
	s.t.Helper()
	if before != "" {
		before += " >&2; "
	}
	cmd := exec.CommandContext(s.t.Context(), "bash", "-c", before+"toolcrib doctor -o json </dev/null")
	cmd.Env, cmd.Dir, cmd.Stdin = s.env, filepath.Join(s.base, "work"), strings.NewReader(stdin)
	var said strings.Builder
	cmd.Stderr = &said
	out, _ := cmd.Output() // a problem is a failure
	var list []finding
	if err := json.Unmarshal(out, &list); err != nil {
		s.t.Fatalf("%v: %s\n%s", err, out, said.String())
	}
	return list
}

func findingOf(list []finding, check, part string) (finding, bool) {
	for _, f := range list {
		if f.Check == check && f.Status != "ok" && strings.Contains(f.Detail, part) {
			return f, true
		}
	}
	return finding{}, false
}

// TestDoctorsCommandsHeal: what the doctor finds is gone after exactly the command that
// it names.
func TestDoctorsCommandsHeal(t *testing.T) {
	const vaultKey = "mkdir -m 700 -p BASE/tc/state/vault-key && echo a-long-enough-value | toolcrib secret set HAVE"
	plain := map[string]string{
		"tc/config.yaml":     "mcp_servers:\n  away:\n    command: /bin/cat\n    env:\n      KEY: ${secret:AWAY_KEY}\n  fake:\n    command: fakemcp\ngrant:\n  write:\n    - .\n    - BASE/newdir\nserve:\n  open: true\n",
		"tc/plugins/weather": "#!/bin/sh\nexec fakemcp\n", "tc/tools/bad.yaml": "description: x\nefects: [reads]\ncommand: [echo, hi]\n", "tc/tools/late.sh": "#!/bin/sh\n# toolcrib:\n#   description: Late.\n#   effects: [reads]\necho hi\n",
	}
	keyless := noKeyring(os.Getenv, exec.LookPath)
	type sickness struct{ check, part, fix, stdin string }
	for _, tt := range []struct {
		name, before string
		files        map[string]string
		sick         []sickness
	}{
		{"settings, tools and plugins", "", plain, []sickness{
			{"vault", "mcp_servers.away.env.KEY names the secret AWAY_KEY", keyless + "toolcrib secret set AWAY_KEY", "a-long-enough-value\n"},
			{"tools", "BASE/newdir", "mkdir -p BASE/newdir", ""},
			{"serve", "serve.open", "toolcrib config set serve.open false", ""},
			{"tools", "weather is no plugin yet", "chmod +x BASE/tc/plugins/weather", ""},
			{"tools", "late.sh: it declares a tool and is not executable", "chmod +x BASE/tc/tools/late.sh", ""},
			{"tools", "efects: unknown key", "sed -i -e s/efects/effects/ BASE/tc/tools/bad.yaml", ""},
			{"plugins", "toolbox fake: this MCP server was not listed yet", "toolcrib hub test fake", ""},
		}},
		{"a key that others can read", vaultKey + "; chmod 644 BASE/tc/state/vault-key/*", nil, []sickness{{"vault", "so that other users get at it", "chmod -R go= BASE/tc/state/vault-key", ""}}},
		{"a vault that others can read", vaultKey + "; chmod 755 BASE/tc/state/vault", nil, []sickness{{"vault", "cannot be read", "chmod -R go= BASE/tc/state/vault", ""}}},
		{"a key that is gone", vaultKey + "; rm BASE/tc/state/vault-key/*", nil, []sickness{{"vault", "has no key", "mv BASE/tc/state/vault BASE/tc/state/vault.locked", ""}}},
		{"a damaged vault", vaultKey + "; echo x > BASE/tc/state/vault/secrets", nil, []sickness{{"vault", "damaged", "mv BASE/tc/state/vault BASE/tc/state/vault.locked", ""}}},
		{"a variable without the key", "export TOOLCRIB_VAULT_KEY=a-passphrase-that-is-long; echo a-long-enough-value | toolcrib secret set HAVE; toolcrib config set vault.key.from env", nil,
			[]sickness{{"vault", "cannot be read", "read -rs TOOLCRIB_VAULT_KEY && export TOOLCRIB_VAULT_KEY", "a-passphrase-that-is-long\n"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSickbed(t, tt.files)
			full := func(text string) string { return strings.ReplaceAll(text, "BASE", s.base) }
			said := ""
			if tt.before != "" {
				said = s.shell(full(tt.before), "")
			}
			found := s.findings("", "")
			typed, stdin := "", ""
			for _, sick := range tt.sick {
				f, ok := findingOf(found, sick.check, full(sick.part))
				if !ok || f.Fix != full(sick.fix) {
					t.Fatalf("%s %q: %+v\nof %+v\n%s", sick.check, sick.part, f, found, said)
				}
				if len(tt.sick) == 1 {
					typed, stdin = f.Fix, sick.stdin // in the same shell: it may be about a variable
				} else {
					said += s.shell(f.Fix, sick.stdin)
				}
			}
			healed := s.findings(typed, stdin)
			for _, sick := range tt.sick {
				if f, still := findingOf(healed, sick.check, full(sick.part)); still {
					t.Errorf("after %s: %+v\n%s", f.Fix, f, said)
				}
			}
		})
	}
}

// TestDoctorFindsRoomForTemporaryFiles: the first place with room is named, and where there is none what fills it.
func TestDoctorFindsRoomForTemporaryFiles(t *testing.T) {
	dir := t.TempDir()
	free := func(at string) (uint64, error) {
		if at == dir {
			return 10 << 30, nil
		}
		return 0, nil
	}
	if got, want := tempRoom(free, "/full", "/also-full", dir), "mkdir -p "+dir+"/tmp && export TMPDIR="+dir+"/tmp"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := tempRoom(free, "/full", dir, "/also-full"), "export TMPDIR="+dir; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := tempRoom(free, "/full", "/also-full"); !strings.HasPrefix(got, "du -xh ") {
		t.Error(got)
	}
}
