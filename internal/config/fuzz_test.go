package config

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// ruled has one setting of each thing a project file may do, and one of each kind it may not touch. The defaults are
// such that both directions are possible.
type ruled struct {
	Plain    string               `yaml:"plain"`
	Number   int                  `yaml:"number" project:"lower"`
	Unsigned uint                 `yaml:"unsigned" project:"lower"`
	Float    float64              `yaml:"float" project:"lower"`
	Time     time.Duration        `yaml:"time" project:"lower"`
	Size     int64                `yaml:"size" unit:"bytes" project:"lower"`
	Off      bool                 `yaml:"off" project:"off"`
	On       bool                 `yaml:"on" project:"on"`
	List     []string             `yaml:"list"`
	Add      []string             `yaml:"add" project:"add"`
	Subset   []string             `yaml:"subset" project:"subset"`
	Drop     []string             `yaml:"drop" project:"drop"`
	Map      map[string]string    `yaml:"map"`
	AddMap   map[string]string    `yaml:"add_map" project:"add"`
	Blocks   map[string]ruledPart `yaml:"blocks"`
	Optional *ruledPart           `yaml:"optional"`
}

type ruledPart struct {
	Text  string `yaml:"text"`
	Limit int    `yaml:"limit" project:"lower"`
	Off   bool   `yaml:"off" project:"off"`
}

func ruledDefaults() ruled {
	return ruled{
		Plain: "p", Number: 5, Unsigned: 5, Float: 0.5, Time: time.Minute, Size: 4096, Off: true, On: false, List: []string{"a"},
		Add: []string{"a"}, Subset: []string{"a", "b", "c"}, Drop: []string{"a", "b"}, Map: map[string]string{"a": "1"}, AddMap: map[string]string{"a": "1"},
		Blocks: map[string]ruledPart{"a": {Text: "t", Limit: 3, Off: true}},
	}
}

// wider names the settings in which with allows more than without, by rules written down a second time: independent of
// the code under test.
func wider(without, with ruled) []string {
	var list []string
	check := func(ok bool, key string) {
		if !ok {
			list = append(list, key)
		}
	}
	check(with.Plain == without.Plain, "plain")
	check(with.Number == without.Number || 0 < with.Number && with.Number < without.Number, "number")
	check(with.Unsigned == without.Unsigned || 0 < with.Unsigned && with.Unsigned < without.Unsigned, "unsigned")
	check(with.Float == without.Float || 0 < with.Float && with.Float < without.Float, "float")
	check(with.Time == without.Time || 0 < with.Time && with.Time < without.Time, "time")
	check(with.Size == without.Size || 0 < with.Size && with.Size < without.Size, "size")
	check(!with.Off || without.Off, "off")
	check(with.On || !without.On, "on")
	check(slices.Equal(with.List, without.List), "list")
	check(len(with.Add) >= len(without.Add) && slices.Equal(with.Add[:len(without.Add)], without.Add), "add")
	for _, item := range with.Subset {
		check(slices.Contains(without.Subset, item), "subset")
	}
	for _, item := range with.Drop {
		check(slices.Contains(without.Drop, item), "drop")
	}
	check((len(with.Subset) == 0) == (len(without.Subset) == 0), "subset is empty")
	check(len(with.Map) == len(without.Map), "map")
	for name, value := range without.Map {
		check(with.Map[name] == value, "map."+name)
	}
	for name, value := range without.AddMap {
		check(with.AddMap[name] == value, "add_map."+name)
	}
	check(len(with.Blocks) == len(without.Blocks), "blocks")
	for name, part := range without.Blocks {
		check(partTighter(part, with.Blocks[name]), "blocks."+name)
	}
	check((with.Optional == nil) == (without.Optional == nil), "optional")
	if with.Optional != nil && without.Optional != nil {
		check(partTighter(*without.Optional, *with.Optional), "optional")
	}
	return list
}

func partTighter(without, with ruledPart) bool {
	return with.Text == without.Text && (!with.Off || without.Off) &&
		(with.Limit == without.Limit || 0 < with.Limit && with.Limit < without.Limit)
}

// checkPair loads a user's file without and with a project's file and holds the results against each other.
func checkPair(t interface {
	Helper()
	Fatalf(string, ...any)
}, dir string, user, project []byte) {
	t.Helper()
	userFile, projectPath := filepath.Join(dir, "config.yaml"), filepath.Join(dir, projectFile)
	for path, data := range map[string][]byte{userFile: user, projectPath: project} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatalf("%v", err)
		}
	}
	without, err := Load(ruledDefaults(), Options{User: userFile})
	if err != nil {
		without, err = Load(ruledDefaults(), Options{}) // a broken user's file: the project is still worth trying
		if err != nil {
			t.Fatalf("the defaults do not load: %v", err)
		}
		userFile = ""
	}
	with, err := Load(ruledDefaults(), Options{User: userFile, Project: projectPath})
	if err != nil {
		if strings.TrimSpace(err.Error()) == "" {
			t.Fatalf("an error without words")
		}
		return
	}
	if list := wider(without.Value, with.Value); len(list) > 0 {
		t.Fatalf("the project made %v wider:\nwithout %+v\nwith    %+v\nuser    %q\nproject %q", list, without.Value, with.Value, user, project)
	}
	// What is shown can be loaded again.
	shown, err := Show(with)
	if err != nil {
		t.Fatalf("Show: %v", err)
	}
	again := filepath.Join(dir, "again.yaml")
	if err := os.WriteFile(again, shown, 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	reloaded, err := Load(ruled{}, Options{User: again})
	if err != nil {
		t.Fatalf("what was shown does not load: %v\n%s", err, shown)
	}
	if list := append(wider(with.Value, reloaded.Value), wider(reloaded.Value, with.Value)...); len(list) > 0 {
		t.Fatalf("what was shown loads differently in %v:\n%s", list, shown)
	}
}

// FuzzLoad reads foreign text as a user's and as a project's file: it never panics, and a project never widens.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("number: 7\nsubset: [a, b]\noptional: {limit: 5}\n"), []byte("number: 3\nsubset: [a]\noptional: {limit: 2}\n"))
	f.Add([]byte("number: 0\nsize: 0\n"), []byte("number: 9\nsize: 0\nfloat: 0.9\noff: true\non: false\n"))
	f.Add([]byte("blocks: {a: &a {off: false}, b: *a}\n"), []byte("blocks: {a: {<<: {off: true}}, b: {limit: 1}, c: {}}\noptional:\n"))
	f.Add([]byte("on: true\ntime: 1h30m\n"), []byte("time: 90d\nlist: [x]\nadd: [b, b]\nmap: {a: 2, b: 3}\nadd_map: {a: 2, b: 3}\n"))
	f.Add([]byte("\uFEFFplain: x"), []byte("---\nplain: y\n---\n"))
	f.Add([]byte("a:\n\tb: 1"), []byte("? [x]\n: {<<: *q}\n"))
	f.Add([]byte("subset: []"), []byte("subset: &x [*x]"))
	dir := f.TempDir() // one for each worker: a fresh one for each input takes longer than the rest
	f.Fuzz(func(t *testing.T, user, project []byte) {
		checkPair(t, dir, user, project)
	})
}

// TestProjectNeverWidens is the same property on files that are mostly well formed, which blind bytes seldom are.
func TestProjectNeverWidens(t *testing.T) {
	dir := t.TempDir()
	number := rapid.SampledFrom([]string{"-1", "0", "1", "2", "4", "5", "6", "9", "0.25", "0.5", "1e9", "0x1", "10s", "'1m'", "0s", "'5d'", "1KiB", "'4KiB'", "1GB"})
	word := rapid.SampledFrom([]string{"a", "b", "c", "d", "'1'", "t"})
	boolean := rapid.SampledFrom([]string{"true", "false"})
	list := rapid.Custom(func(t *rapid.T) string {
		return "[" + strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "items"), ", ") + "]"
	})
	part := rapid.Custom(func(t *rapid.T) string {
		var lines []string
		for i, key := range []string{"text", "limit", "off"} {
			if rapid.Bool().Draw(t, "has "+key) {
				lines = append(lines, key+": "+[]*rapid.Generator[string]{word, number, boolean}[i].Draw(t, key))
			}
		}
		return "{" + strings.Join(lines, ", ") + "}"
	})
	entries := func(value *rapid.Generator[string]) *rapid.Generator[string] {
		return rapid.Custom(func(t *rapid.T) string {
			var lines []string
			for _, name := range []string{"a", "b"} {
				if rapid.Bool().Draw(t, "has "+name) {
					lines = append(lines, name+": "+value.Draw(t, name))
				}
			}
			return "{" + strings.Join(lines, ", ") + "}"
		})
	}
	keys := []struct {
		name  string
		value *rapid.Generator[string]
	}{
		{"plain", word}, {"number", number}, {"unsigned", number}, {"float", number}, {"time", number}, {"size", number}, {"off", boolean},
		{"on", boolean}, {"list", list}, {"add", list}, {"subset", list}, {"drop", list}, {"map", entries(word)}, {"add_map", entries(word)},
		{"blocks", entries(part)}, {"optional", part},
	}
	file := rapid.Custom(func(t *rapid.T) []byte {
		var b strings.Builder
		for _, key := range keys {
			if rapid.IntRange(0, 2).Draw(t, "has "+key.name) == 0 {
				b.WriteString(key.name + ": " + key.value.Draw(t, key.name) + "\n")
			}
		}
		return []byte(b.String())
	})
	loaded := 0
	rapid.Check(t, func(t *rapid.T) {
		user, project := file.Draw(t, "user"), file.Draw(t, "project")
		checkPair(t, dir, user, project)
		if _, err := Load(ruledDefaults(), Options{Project: filepath.Join(dir, projectFile)}); err == nil {
			loaded++
		}
	})
	t.Logf("%d project files loaded", loaded)
	if loaded == 0 {
		t.Error("no project file loaded at all: the property was not tried")
	}
}

// FuzzTextValue sets a list and a map from foreign text in every way there is: all ways that accept a text read the same from it.
func FuzzTextValue(f *testing.F) {
	for _, text := range []string{"a,b", "[a, b]", `["*.{a,b}", '[x]']`, "*.{a,b}", "[ab].txt", "", "[]", "a=b,c=d", "{a: b}", "{a: &x b, c: *x}", "[&a b, *a]", "- a", `"a"`, "f(a, b)", "[!x a]", "{<<: {a: b}}", "[\"a\\n\\u0085b\"]"} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		for _, key := range []string{"tools.allow", "tools.alias", "tools.profiles"} {
			read := func(opt Options) (string, bool) {
				loaded, err := Load(settings{}, opt)
				if err != nil {
					return "", false
				}
				root, err := newTree(reflect.TypeFor[tools]())
				if err != nil {
					t.Fatal(err)
				}
				return identity(root, reflect.ValueOf(loaded.Value.Tools)), true
			}
			file := func(name string, content []byte) Options {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				return Options{User: path}
			}
			flag, byFlag := read(Options{Flags: map[string]string{key: text}})
			if key != "tools.profiles" { // which has no variable
				if variable, byVariable := read(Options{Environ: []string{"TOOLCRIB_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_")) + "=" + text}}); byVariable != byFlag || variable != flag {
					t.Fatalf("%s=%q: flag %v %s, variable %v %s", key, text, byFlag, flag, byVariable, variable)
				}
			}
			out, err := SetValue[settings](nil, key, text)
			if (err == nil) != byFlag {
				t.Fatalf("%s=%q: flag %v %s, config set %v", key, text, byFlag, flag, err)
			}
			if err == nil {
				if set, ok := read(file("set.yaml", out)); !ok || set != flag {
					t.Fatalf("%s=%q: flag %s, config set wrote %q: %v %s", key, text, flag, out, ok, set)
				}
			}
			// On one line of a file, in brackets: a line end could begin another key.
			if trimmed := strings.TrimSpace(text); strings.IndexAny(trimmed, "[{") == 0 && !strings.ContainsAny(trimmed, "\r\n\u0085\u2028\u2029") {
				if in, ok := read(file("file.yaml", []byte("tools:\n  "+strings.TrimPrefix(key, "tools.")+": "+trimmed+"\n"))); ok != byFlag || in != flag {
					t.Fatalf("%s=%q: flag %v %s, file %v %s", key, text, byFlag, flag, ok, in)
				}
			}
		}
	})
}
