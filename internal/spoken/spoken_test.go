package spoken

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// TestEveryLanguageHasEverySentence: a translation that lacks one, or that says a
// number where another says none, is found here and not by a person.
func TestEveryLanguageHasEverySentence(t *testing.T) {
	for _, lang := range Languages() {
		text, err := sentences.ReadFile("sentences/" + lang + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		table, bad := parseTable(string(text))
		if len(bad) > 0 {
			t.Errorf("%s: these lines are not 'key = sentence', or their key is there twice: %q", lang, bad)
		}
		if got, want := slices.Sorted(maps.Keys(table)), slices.Sorted(slices.Values(Keys())); !slices.Equal(got, want) {
			for _, key := range want {
				if table[key] == "" {
					t.Errorf("%s: no sentence for %s", lang, key)
				}
			}
			for _, key := range got {
				if !slices.Contains(want, key) {
					t.Errorf("%s: %s is no key", lang, key)
				}
			}
		}
		for key, form := range table {
			if got, want := places(form), places(tableOf(English)[key]); !slices.Equal(got, want) {
				t.Errorf("%s: %s has %q, and English has %q", lang, key, got, want)
			}
		}
	}
	if len(slices.Compact(slices.Sorted(slices.Values(Keys())))) != len(Keys()) {
		t.Error("a key is listed twice")
	}
	for _, lang := range []string{"en", "de"} {
		if !slices.Contains(Languages(), lang) {
			t.Errorf("there is no %s", lang)
		}
	}
}

// places lists what is filled into a sentence.
func places(form string) []string {
	var list []string
	for part := range strings.SplitSeq(form, "{") {
		if name, _, ok := strings.Cut(part, "}"); ok {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// TestNothingInTheTableIsSpelledOut: only letters and the signs that a voice reads
// as a pause or a question. The conformance tests have a real voice read it.
func TestNothingInTheTableIsSpelledOut(t *testing.T) {
	for _, lang := range Languages() {
		for _, key := range Keys() {
			said := Sentence{Key: key, Number: 30, Words: "read file"}.In(lang)
			if i := strings.IndexFunc(said, func(r rune) bool {
				return !unicode.IsLetter(r) && r != ' ' && r != ',' && r != '.' && r != '?' && !unicode.IsDigit(r)
			}); i >= 0 {
				t.Errorf("%s: %s: a voice may spell what stands at %q", lang, key, said[i:])
			}
			if words := len(strings.Fields(said)); words > 20 || len(said) > 120 {
				t.Errorf("%s: %s is too long to be said: %q", lang, key, said)
			}
			if !strings.HasSuffix(said, ".") && !strings.HasSuffix(said, "?") {
				t.Errorf("%s: %s does not end as a sentence: %q", lang, key, said)
			}
			if strings.Count(said, ". ") > 1 {
				t.Errorf("%s: %s has more than two sentences: %q", lang, key, said)
			}
		}
	}
}

func TestLanguage(t *testing.T) {
	for _, c := range []struct {
		tags []string
		want string
	}{
		{nil, "en"}, {[]string{"", "de-DE"}, "de"}, {[]string{"DE_at"}, "de"}, {[]string{"de"}, "de"}, {[]string{"tlh", "de-CH"}, "de"},
		{[]string{"tlh"}, "en"}, {[]string{"en-US", "de"}, "en"}, {[]string{"../de"}, "en"}, {[]string{strings.Repeat("de", 100)}, "en"}, {[]string{"-"}, "en"},
	} {
		if got := Language(c.tags...); got != c.want {
			t.Errorf("%q: %q, want %q", c.tags, got, c.want)
		}
	}
	if Say("de-AT", Busy) == Say("en", Busy) || Say("xx", Busy) != Say("en", Busy) || Say("", "no such key") != Say("en", Failed) {
		t.Error("languages and keys that are not there are not what they should be")
	}
	if got := (Sentence{Key: CommandTimedOut, Number: 30}).In("de"); !strings.Contains(got, "30 Sekunden") {
		t.Error(got)
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"run_command": "run command", "weather.forecast-now": "weather forecast now", "3f9a1c77-b2": "", "notes.txt": "notes", "": "",
		"/home/me/.ssh/id_ed25519": "home me id", "a <b> 'c' \"d\" {e} 12 12345": "a 12", "Wetter für Köln": "Wetter für Köln", "HTTP get": "get",
		"one two three four five six seven": "one two three four five six", strings.Repeat("ab", 30): "", "天気 予報": "天気 予報",
	} {
		if got := Plain(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// FuzzPlain: whatever a tool or a file is called, nothing is spelled out and the
// sentence stays short.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"run_command", "/etc/passwd", "{number}", "[x](y)", "a\x00b", "\u202eevil", strings.Repeat("word ", 50), "de"} {
		f.Add(seed, "de-DE")
	}
	f.Add("x", "../../en")
	f.Fuzz(func(t *testing.T, words, lang string) {
		said := Plain(words)
		if strings.ContainsFunc(said, func(r rune) bool {
			return r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r)
		}) {
			t.Errorf("%q is said as %q", words, said)
		}
		if n := len(strings.Fields(said)); n > maxWords {
			t.Errorf("%q has %d words", said, n)
		}
		if got := (Sentence{Key: MayUse, Words: words}).In(lang); strings.ContainsAny(got, "{}_/\\") {
			t.Errorf("%q", got)
		}
	})
}
