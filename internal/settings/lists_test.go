package settings_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/config"
	"github.com/toolcrib/toolcrib/internal/settings"
)

// setting is a list or a map of the configuration that a key reaches, with NAME for names.
type setting struct {
	key string
	typ reflect.Type
	tag reflect.StructTag
}

// variable is the environment variable of a setting; empty: it has none.
func (s setting) variable() string {
	if elem := s.typ.Elem().Kind(); strings.Contains(s.key, "NAME") || elem == reflect.Struct || elem == reflect.Slice {
		return ""
	}
	if name := s.tag.Get("env"); name != "" {
		return name
	}
	return "TOOLCRIB_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(s.key))
}

// collections finds every list and every map below a block.
func collections(typ reflect.Type, prefix string) (out []setting) {
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if name == "" || name == "-" {
			continue
		}
		out = append(out, below(setting{prefix + name, f.Type, f.Tag})...)
	}
	return out
}

func below(s setting) []setting {
	switch s.typ.Kind() {
	case reflect.Pointer:
		return below(setting{s.key, s.typ.Elem(), s.tag})
	case reflect.Struct:
		return collections(s.typ, s.key+".")
	case reflect.Slice:
		return []setting{s}
	case reflect.Map:
		return append([]setting{s}, below(setting{s.key + ".NAME", s.typ.Elem(), s.tag})...)
	}
	return nil
}

// valueAt finds what a configuration has under a key.
func valueAt(v reflect.Value, key string) reflect.Value {
	for name := range strings.SplitSeq(key, ".") {
		if v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}
			}
			v = v.Elem()
		}
		if v.Kind() == reflect.Map {
			if v = v.MapIndex(reflect.ValueOf(name)); !v.IsValid() {
				return v
			}
			continue
		}
		for i := range v.NumField() {
			if tagged, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ","); tagged == name {
				v = v.Field(i)
				break
			}
		}
	}
	return v
}

// waysToSet are the ways in which a person can set a key: each gives what the
// configuration then has, or the error.
func waysToSet(t *testing.T, s setting, value string) map[string]string {
	t.Helper()
	key := strings.ReplaceAll(s.key, "NAME", "x")
	dir := t.TempDir()
	read := func(opt config.Options) string {
		loaded, err := config.Load(settings.Config{}, opt)
		if err != nil {
			return "refused: " + err.Error()
		}
		for _, w := range loaded.Warnings {
			return "warning: " + w.String()
		}
		v := valueAt(reflect.ValueOf(loaded.Value), key)
		if !v.IsValid() || v.Len() == 0 {
			return "empty"
		}
		return fmt.Sprintf("%q", v.Interface())
	}
	file := func(name, content string) config.Options {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return config.Options{User: path}
	}
	written := ""
	for i, name := range strings.Split(key, ".") {
		written += "\n" + strings.Repeat("  ", i) + name + ":"
	}
	ways := map[string]string{
		"file": read(file("file.yaml", written[1:]+" "+value+"\n")),
		"flag": read(config.Options{Flags: map[string]string{key: value}}),
	}
	if name := s.variable(); name != "" {
		ways["variable"] = read(config.Options{Environ: []string{name + "=" + value}})
	}
	out, err := config.SetValue[settings.Config](nil, key, value)
	switch {
	case err == nil:
		ways["config set"] = read(file("set.yaml", string(out)))
	case strings.Contains(err.Error(), "is a secret"): // which config set never writes
	default:
		ways["config set"] = "refused: " + err.Error()
	}
	return ways
}

// A text that some part of the program read as another list than the person meant
// would deny, protect or allow something else, in silence.
func TestListsMeanTheSameHoweverTheyAreSet(t *testing.T) {
	t.Parallel()
	texts := map[string]string{ // the form, and the list that it means; none: it is refused
		"a,b": `["a" "b"]`, "a, b": `["a" "b"]`, " a ": `["a"]`, "a": `["a"]`, "": "empty",
		"[a, b]": `["a" "b"]`, "[a]": `["a"]`, "[a,b,]": `["a" "b"]`, `["a", "b"]`: `["a" "b"]`, `['a', "b"]`: `["a" "b"]`, "[]": "empty", " [ a ] ": `["a"]`,
		"*.pem": `["*.pem"]`, "f(x *)": `["f(x *)"]`, "a{b}": `["a{b}"]`, "Bob's": `["Bob's"]`, "[&x a, b]": `["a" "b"]`,
		`["*.{a,b}"]`: `["*.{a,b}"]`, `["[ab].txt", 'c,d']`: `["[ab].txt" "c,d"]`, `["f(a, b)"]`: `["f(a, b)"]`, "[\"a\\nb\"]": `["a\nb"]`,
		"*.{a,b}": "", "[ab].txt": "", "f(a, b)": "", "[*.pem]": "", "[!a]": "", "[a": "", "a]": "", "a, b]": "", "[a]b": "", "[a],b": "", "a,[b]": "",
		`"a,b"`: "", `"a"`: "", "'a'": "", `x "a, b"`: "", "{a: b}": "", "{a}": "", "a,,b": "", "a,": "", ",": "", "- a": "", "- a\n- b": "", "a\nb": "",
		"[1]": "", "[true]": "", "[~]": "", "[[a]]": "", "[{a: b}]": "", "[a]: b": "", "[a]\n---\n[b]": "", "a\u200b": "", "[a\x00]": "", "\xff": "", `["a"`: "",
	}
	numbers := map[string]string{"1,2": `['\x01' '\x02']`, "[1, 2]": `['\x01' '\x02']`, "1": `['\x01']`, "": "empty", "[]": "empty", "a": "", "[a]": "", "[1": "", "1,,2": ""}
	blocks := map[string]string{"[]": "empty", "": "", "a,b": "", "[a]": "", "a": "", "{}": "", "[{no_such_key: 1}]": "", "[": ""}
	// A load takes a millisecond or two, so that every form is tried on the keys that differ in kind, and these on every key.
	core := map[string]string{}
	for _, form := range []string{"a,b", "", "[a, b]", `["*.{a,b}"]`, "*.{a,b}", "[ab].txt", "[a", "a, b]", "- a", `"a"`} {
		core[form] = texts[form]
	}
	seen := map[string]bool{}
	tried := 0
	for _, s := range collections(reflect.TypeFor[settings.Config](), "") {
		if s.typ.Kind() != reflect.Slice || s.tag.Get("set") == "own" {
			continue
		}
		forms := texts
		if class := fmt.Sprint(s.tag.Get("layers"), s.tag.Get("project"), s.variable() == ""); seen[class] {
			forms = core
		} else if s.typ.Elem().Kind() == reflect.String && s.tag.Get("enum") == "" {
			seen[class] = true
		}
		switch kind := s.typ.Elem().Kind(); {
		case kind == reflect.Struct:
			forms = blocks
		case kind != reflect.String:
			forms = numbers
		case s.tag.Get("enum") != "":
			one, rest, _ := strings.Cut(s.tag.Get("enum"), ",")
			two, _, _ := strings.Cut(rest, ",")
			both := fmt.Sprintf("[%q %q]", one, two)
			forms = map[string]string{one + "," + two: both, "[" + one + ", " + two + "]": both, fmt.Sprintf("[%q]", one): fmt.Sprintf("[%q]", one), "": "empty",
				"[]": "empty", "[" + one: "", one + "]": "", "{" + one + "}": "", "nonsense": "", "[nonsense]": ""}
		}
		if s.tag.Get("entries") == "places" {
			forms = maps.Clone(forms)
			forms["f(x *)"] = "" // no name that anybody gives a file
		}
		tried++
		for form, want := range forms {
			checkWays(t, s, form, want, func(way string) bool { return way == "file" && !strings.HasPrefix(strings.TrimSpace(form), "[") })
		}
	}
	if tried < 40 {
		t.Errorf("%d lists were tried", tried)
	}
}

func TestMapsMeanTheSameHoweverTheyAreSet(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"a=b,c=d": `map["a":"b" "c":"d"]`, "a=b=c": `map["a":"b=c"]`, "a=": `map["a":""]`, "": "empty", "{}": "empty", "{a: b, c: d}": `map["a":"b" "c":"d"]`,
		`{"a": "b"}`: `map["a":"b"]`, `{a: "b,c"}`: `map["a":"b,c"]`, `{a: '[x]'}`: `map["a":"[x]"]`,
		"a": "", "a=b,c": "", "=b": "", "a=b,": "", "[a, b]": "", "[a=b]": "", "{a: b": "", "{a: b}c": "", "{a=b}": "", "a=[x]": "", "a={x}": "", `a="x"`: "", "a=x(b,c=d)": "",
		"{a: [b]}": "", "{a: {b: c}}": "", "{a: 1}": "", "{a: b, a: c}": "", "a: b": "", "{a: b}\n---\n{c: d}": "",
	}
	lists := map[string]string{"{a: [b, c]}": `map["a":["b" "c"]]`, `{"a": ["b,c"]}`: `map["a":["b,c"]]`, "{}": "empty", "a=b": "", "{a: b}": "", "[a]": "", "{a: [b}": "", "": ""}
	blocks := map[string]string{"{}": "empty", "a=b": "", "{a: b}": "", "{a: {no_such_key: 1}}": "", "[]": "", "{a": "", "a": "", "": ""}
	tried := 0
	for _, s := range collections(reflect.TypeFor[settings.Config](), "") {
		if s.typ.Kind() != reflect.Map {
			continue
		}
		forms := blocks
		switch elem := s.typ.Elem(); {
		case elem.Kind() == reflect.String && s.tag.Get("enum") == "":
			forms = texts
		case elem.Kind() == reflect.Slice && elem.Elem().Kind() == reflect.String && s.tag.Get("enum") == "":
			forms = lists
		case elem.Kind() != reflect.Struct:
			forms = map[string]string{"{}": "empty", "[]": "", "a": "", "{a": ""}
		}
		if s.tag.Get("entries") == "places" {
			forms = maps.Clone(forms)
			forms["f(x *)"] = "" // no name that anybody gives a file
		}
		tried++
		for form, want := range forms {
			// A block with nothing in it is no mistake in a file.
			checkWays(t, s, form, want, func(way string) bool { return way == "file" && !strings.HasPrefix(form, "{") })
		}
	}
	if tried < 20 {
		t.Errorf("%d maps were tried", tried)
	}
}

// checkWays holds all ways to set a key against what the form means. A way that may refuse has another form for it.
func checkWays(t *testing.T, s setting, form, want string, mayRefuse func(way string) bool) {
	t.Helper()
	for way, got := range waysToSet(t, s, form) {
		refused := strings.HasPrefix(got, "refused: ")
		switch {
		case refused && (want == "" || mayRefuse(way)):
		case got == want:
		case got == "empty" && want == "" && form == "" && way == "file":
		default:
			t.Errorf("%s = %q by %s: %s, want %s", s.key, form, way, got, map[bool]string{true: "refused", false: want}[want == ""])
		}
	}
}
