package config

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestProblems lists mistakes with what a person is told: place, key and words.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"unknown key", "mode: ask\njurnal:\n  enabled: true\n", "F:2:1: jurnal: unknown key \"jurnal\"; did you mean journal?"},
		{"unknown inside", "journal:\n  retenton: 1h\n", "F:2:3: journal.retenton: unknown key \"retenton\"; did you mean journal.retention?"},
		{"unknown in wrong block", "retention: 1h\n", "F:1:1: retention: unknown key \"retention\"; did you mean journal.retention?"},
		{"unknown in an inner block", "journal: {mode: ask}\n", "F:1:11: journal.mode: unknown key \"mode\"; did you mean mode at the top level, outside of journal?"},
		{"unknown in outer name", "limit:\n  timeout: 1h\n", "F:1:1: limit: unknown key \"limit\"; did you mean limits?"},
		{"unknown, case and dash", "journal: {Max-Size: 1GB}\n", "F:1:11: journal.Max-Size: unknown key \"Max-Size\"; did you mean journal.max_size?"},
		{"unknown, far off", "journal: {zebra: 1}\n", "F:1:11: journal.zebra: unknown key \"zebra\"; known here: enabled, retention, max_size"},
		{"unknown in an entry", "servers: {a: {ulr: x}}\n", "F:1:15: servers.a.ulr: unknown key \"ulr\"; did you mean servers.a.url?"},
		{"unknown in an element", "rules:\n- math: x\n", "F:2:3: rules[0].math: unknown key \"math\"; did you mean rules[0].match?"},
		{"unknown with escapes", "\"\\e[31mred\": 1\n", "F:1:1: [\"\\x1b[31mred\"]: unknown key \"\\x1b[31mred\"; known here: mode, workers, journal, limits, tools, servers, rules, tls"},
		{"duplicate", "mode: ask\nmode: auto\n", "F:2:1: mode: this key is already set in line 1"},
		{"duplicate, quoted", "mode: ask\n\"mode\": auto\n", "F:2:1: mode: this key is already set in line 1"},
		{"duplicate entry", "servers:\n  a: {}\n  a: {}\n", "F:3:3: servers.a: this key is already set in line 2"},
		{"number for text", "mode: 1.10\n", "F:1:7: mode: expected one of ask, auto, plan, got the number 1.10; put it in quotes"},
		{"text for number", "workers: many\n", "F:1:10: workers: expected a whole number from 1 to 64, got the text \"many\""},
		{"quoted number", "workers: \"3\"\n", "F:1:10: workers: expected a whole number from 1 to 64, got the text \"3\"; remove the quotes"},
		{"fraction", "workers: 1.5\n", "F:1:10: workers: expected a whole number from 1 to 64, got the number 1.5"},
		{"octal or not", "workers: 010\n", "F:1:10: workers: expected a whole number from 1 to 64, got \"010\" (a leading zero could mean octal)"},
		{"too small", "workers: 0\n", "F:1:10: workers: expected a whole number from 1 to 64, got \"0\" (too small)"},
		{"too large", "workers: 65\n", "F:1:10: workers: expected a whole number from 1 to 64, got \"65\" (too large)"},
		{"overflow", "limits: {retries: 256}\n", "F:1:19: limits.retries: expected a whole number, got \"256\" (does not fit)"},
		{"negative", "limits: {retries: -1}\n", "F:1:19: limits.retries: expected a whole number, got \"-1\" (not a number of this kind)"},
		{"not a number", "limits: {load: .nan}\n", "F:1:16: limits.load: expected a number from 0 to 1, got \".nan\" (not a number of this kind)"},
		{"yes", "limits: {network: yes}\n", "F:1:19: limits.network: expected true or false, got the text \"yes\"; write true or false without quotes"},
		{"list for bool", "limits: {network: [true]}\n", "F:1:19: limits.network: expected true or false, got a list"},
		{"enum", "mode: atuo\n", "F:1:7: mode: expected one of ask, auto, plan, got \"atuo\" (not one of the allowed values); did you mean \"auto\"?"},
		{"duration without unit", "limits: {timeout: 30}\n", "F:1:19: limits.timeout: expected a duration such as 30s, 1h30m or 90d, got the number 30; add a unit"},
		{"duration unit", "limits: {timeout: 3 weeks}\n", "F:1:19: limits.timeout: expected a duration such as 30s, 1h30m or 90d, got \"3 weeks\" (the unit is not one of ns, us, ms, s, m, h, d)"},
		{"duration bound", "journal: {retention: 1s}\n", "F:1:22: journal.retention: expected a duration such as 30s, 1h30m or 90d of at least 1h, got \"1s\" (too small)"},
		{"size unit", "limits: {output: 3 KiX}\n", "F:1:18: limits.output: expected a size such as 4096, 16MiB or 1GB, got \"3 KiX\" (the unit is not one of B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB, PiB)"},
		{"size bound", "journal: {max_size: 1KiB}\n", "F:1:21: journal.max_size: expected a size such as 4096, 16MiB or 1GB of at least 1MiB, got \"1KiB\" (too small)"},
		{"negative size", "limits: {output: -1}\n", "F:1:18: limits.output: expected a size such as 4096, 16MiB or 1GB, got \"-1\" (not a size)"},
		{"null", "mode:\n", "F:1:6: mode: expected one of ask, auto, plan, got nothing; give it a value or remove the key"},
		{"null list", "tools: {deny: ~}\n", "F:1:15: tools.deny: expected a list, got nothing; write [] for an empty list or remove the key"},
		{"text for list", "tools: {deny: rm}\n", "F:1:15: tools.deny: expected a list, got the text \"rm\"; write each element on its own line after a dash, or all of them in [ ]"},
		{"block for list", "tools: {deny: {a: b}}\n", "F:1:15: tools.deny: expected a list, got a block"},
		{"bad element", "tools:\n  deny:\n    - a\n    - 3\n", "F:4:7: tools.deny[1]: expected text, got the number 3; put it in quotes"},
		{"list for block", "journal: []\n", "F:1:10: journal: expected a block of settings, got a list"},
		{"text for block", "journal: true\n", "F:1:10: journal: expected a block of settings, got the value true"},
		{"list for map", "servers: [a]\n", "F:1:10: servers: expected a block of settings, got a list"},
		{"key is a list", "? [a]\n: b\n", "F:1:3: expected a name as key, got a list"},
		{"key is null", "servers: {~: {}}\n", "F:1:11: servers: expected a name as key, got nothing"},
		{"key is empty", "servers: {'': {}}\n", "F:1:11: servers: a name here must have 1 to 256 bytes"},
		{"tag", "mode: !ruby/object ask\n", "F:1:7: mode: expected one of ask, auto, plan, got a value with the tag \"!ruby/object\""},
		{"binary", "mode: !!binary YXNr\n", "F:1:7: mode: expected one of ask, auto, plan, got a value with the tag \"!!binary\""},
		{"tagged block", "journal: !!set {enabled}\n", "F:1:10: journal: expected a block of settings, got a value with the tag \"!!set\""},
		{"root list", "- a\n", "F:1:1: expected settings (key: value), got a list"},
		{"root text", "hello\n", "F:1:1: expected settings (key: value), got the text \"hello\""},
		{"two documents", "mode: ask\n---\nmode: auto\n", "F:2:1: a second document starts here: settings are one document"},
		{"broken second document", "mode: ask\n---\nmode: [\n", "F:4: this is not valid YAML: did not find expected node content"},
		{"tab", "journal:\n\tenabled: true\n", "F:2:1: a tab is used for indentation: YAML allows only spaces there"},
		{"tab after spaces", "journal:\n  \tenabled: true\n", "F:2:3: a tab is used for indentation: YAML allows only spaces there"},
		{"tab further down", "mode: ask\nworkers: 3\n\n\tjournal: 2\n", "F:4:1: a tab is used for indentation: YAML allows only spaces there"},
		{"broken, first line", "mode: a: b\n", "F:1: this is not valid YAML: mapping values are not allowed in this context"},
		{"broken, scanner", "mode: ask\nworkers: 3: 4\n", "F:2: this is not valid YAML: mapping values are not allowed in this context"},
		{"broken, grammar", "mode: ask\nworkers: 3\n- z\n", "F:3: this is not valid YAML: did not find expected key"},
		{"unclosed", "mode: ask\ntools: {deny: [a\n", "F:2: this is not valid YAML: did not find expected ',' or ']'"},
		{"alias without anchor", "mode: ask\nworkers: *w\n", "F:2:10: alias \"*w\" has no anchor before it"},
		{"merge of text", "journal: {<<: x}\n", "F:1:15: journal: expected a block or a list of blocks to merge, got the text \"x\""},
		{"not UTF-8", "mode: ask\nworkers: \xff\n", "F:2:10: the file is not valid UTF-8"},
		{"UTF-16", "\xff\xfem\x00", "F:1:1: the file is not valid UTF-8"},
		{"control character", "mode: ask\nw: \x00", "F:2:4: control character '\\x00' is not allowed"},
		{"secret is not shown", "tools: {token: 12345}\n", "F:1:16: tools.token: expected text, got the number that is not shown; put it in quotes"},
		{"secret below is not shown", "servers: {a: {headers: {k: 12345}}}\n", "F:1:28: servers.a.headers.k: expected text, got the number that is not shown; put it in quotes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "c.yaml", c.file)
			for _, opt := range []Options{{User: path}, {Owner: os.Getuid(), System: path}, {Explicit: path}, {Project: path}} {
				list := loadProblems(t, opt)
				if len(list) != 1 {
					t.Fatalf("%d problems: %v", len(list), list)
				}
				if got := strings.ReplaceAll(list[0].Error(), path, "F"); got != c.want {
					t.Errorf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

func TestAllProblemsAtOnce(t *testing.T) {
	list := loadProblems(t, Options{
		Owner:   os.Getuid(),
		System:  write(t, "system.yaml", "workers: 0\nmod: ask\n"),
		User:    write(t, "user.yaml", "journal:\n  retention: soon\n  max_size: big\nrules: [{action: no}, {match: 3}]\n"),
		Project: write(t, "toolcrib.yaml", "- 1\n"),
		Environ: []string{"TOOLCRIB_WORKERS=some", "TOOLCRIB_LIMITS_LOAD=2"},
		Flags:   map[string]string{"nothing": "1", "mode": "x"},
	})
	var keys []string
	for _, p := range list {
		keys = append(keys, fmt.Sprintf("%d:%s", p.Line, p.Key))
	}
	want := "1:workers 2:mod 2:journal.retention 3:journal.max_size 4:rules[0].action 4:rules[1].match 1: 0:workers 0:limits.load 0:mode 0:nothing"
	if got := strings.Join(keys, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "unknown_key_%d: 1\n", i)
	}
	unknown := b.String()
	b.Reset()
	b.WriteString("servers:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  %0*d: {}\n", maxName+1, i)
	}
	for _, text := range []string{unknown, b.String()} {
		if list := loadProblems(t, Options{Project: write(t, "toolcrib.yaml", text)}); len(list) != maxProblems+1 {
			t.Errorf("%d problems", len(list))
		}
	}
}

func TestAliasBombs(t *testing.T) {
	list := strings.Repeat("x, ", 1000)
	for name, text := range map[string]string{
		"wide": "tools:\n  profiles:\n    a: &a [" + list + "]\n" + func() string {
			var b strings.Builder
			for i := range 100 {
				fmt.Fprintf(&b, "    p%d: *a\n", i)
			}
			return b.String()
		}(),
		"merged": "servers:\n  a: &a\n    headers: {" + func() string {
			var b strings.Builder
			for i := range 1000 {
				fmt.Fprintf(&b, "h%d: x, ", i)
			}
			return b.String()
		}() + "}\n" + func() string {
			var b strings.Builder
			for i := range 100 {
				fmt.Fprintf(&b, "  s%d: {<<: *a}\n", i)
			}
			return b.String()
		}(),
		"merge of merges": func() string {
			var b strings.Builder
			b.WriteString("servers:\n  a0: &a0 {url: x}\n")
			for i := 1; i < 30; i++ {
				fmt.Fprintf(&b, "  a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i-1, i-1)
			}
			return b.String()
		}(),
		"itself": "servers: &a\n  x: &b {<<: *b}\n",
	} {
		t.Run(name, func(t *testing.T) {
			list := loadProblems(t, Options{User: write(t, "c.yaml", text)})
			if len(list) != 1 || !strings.Contains(list[0].Message, "stand for more than 10000 values") {
				t.Errorf("got %v", list)
			}
		})
	}
}

func TestDeepNesting(t *testing.T) {
	for _, unit := range []string{"[", "{", "- ", "? ", "a: {"} {
		text := strings.Repeat(unit, maxFile/len(unit))
		if list := loadProblems(t, Options{User: write(t, "c.yaml", text)}); list[0].Line == 0 {
			t.Errorf("%q: no line in %v", unit, list[0])
		}
	}
}

func TestFileSize(t *testing.T) {
	if _, err := Load(standard(), Options{User: write(t, "c.yaml", strings.Repeat("\n", maxFile))}); err != nil {
		t.Errorf("a file of exactly the limit: %v", err)
	}
	list := loadProblems(t, Options{User: write(t, "c.yaml", strings.Repeat("\n", maxFile+1))})
	if !strings.Contains(list[0].Message, "larger than 1MiB") {
		t.Errorf("got %v", list)
	}
}

func TestPrintablePath(t *testing.T) {
	p := Problem{File: "/tmp/\x1b[2J/toolcrib.yaml", Line: 3, Message: "m"}
	if strings.ContainsRune(p.Error(), '\x1b') {
		t.Errorf("the path reaches the terminal as it is: %q", p.Error())
	}
	w := Warning{File: "/tmp/\nfake: line", Line: 3, Message: "m"}
	if strings.ContainsRune(w.String(), '\n') {
		t.Errorf("the path makes lines: %q", w.String())
	}
}

func TestLongForeignText(t *testing.T) {
	long := strings.Repeat("ä", 5000)
	for name, text := range map[string]string{
		"key":     "? " + long + "\n: 1\n",
		"key two": long + ": 1\n",
		"twice":   "? " + long + "\n: 1\n? " + long + "\n: 1\n",
		"entry":   "servers: {? " + long + " : {}}\n",
		"value":   "mode: " + long + "\n",
		"number":  "mode: " + strings.Repeat("1", 9000) + "\n",
		"element": "tools: {deny: " + long + "}\n",
		"alias":   "mode: *" + strings.Repeat("a", 9000) + "\n",
		"tag":     "mode: !" + strings.Repeat("a", 9000) + " x\n",
	} {
		list := loadProblems(t, Options{User: write(t, "c.yaml", text)})
		if got := list[0].Error(); len(got) > 2000 || list[0].Line == 0 {
			t.Errorf("%s: a message of %d bytes: %.300s", name, len(got), got)
		}
	}
	list := loadProblems(t, Options{Flags: map[string]string{long: "1"}})
	if got := list[0].Error(); len(got) > 2000 {
		t.Errorf("flag: a message of %d bytes", len(got))
	}
}

func TestSourceNames(t *testing.T) {
	for source, want := range map[Source]string{
		SourceDefault: "default", SourceSystem: "system", SourceUser: "user", SourceEnv: "env", SourceFlag: "flag",
		SourceProject: "project", 99: "Source(99)",
	} {
		if got := source.String(); got != want {
			t.Errorf("%d is called %s, want %s", int(source), got, want)
		}
	}
}
