package find

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokens(t *testing.T) {
	for in, want := range map[string][]string{
		"":                       nil,
		"Don't stop, o’clock!":   {"dont", "stop", "oclock"},
		"a1b22 c":                {"a", "1", "b", "22", "c"},
		"Café São Ñandú ÜBER":    {"cafe", "sao", "nandu", "uber"},
		"天气预报":                   {"天气", "气预", "预报"},
		"雨":                      {"雨"},
		"погода в Москве":        {"погода", "в", "москве"},
		"get_user-name":          {"get", "user", "name"},
		"\xff\xfeabc\x00def":     {"abc", "def"},
		strings.Repeat("x", 100): nil, // data, not language
		"weather 🌧 tomorrow":     {"weather", "tomorrow"},
		"'quoted' 'x":            {"quoted", "x"},
	} {
		if diff := cmp.Diff(want, tokens(in)); diff != "" {
			t.Errorf("tokens(%.20q) (-want +got):\n%s", in, diff)
		}
	}
}

func TestNameParts(t *testing.T) {
	for in, want := range map[string]string{
		"getHTTPStatus2":  "get http status 2",
		"get_user_name":   "get user name",
		"PDF&URLTool":     "pdf url tool",
		"list-pods":       "list pods",
		"AI2sql":          "ai 2 sql",
		"browser.openTab": "browser open tab",
	} {
		if got := strings.Join(nameParts(in), " "); got != want {
			t.Errorf("nameParts(%q) = %q, want %q", in, got, want)
		}
	}
	if got := joined("Get_User"); got != "getuser" {
		t.Errorf("joined: %q", got)
	}
}

// Words of one family meet; words that only look alike stay apart.
func TestStem(t *testing.T) {
	for _, family := range []string{
		"translate translates translated translating translation translations translator",
		"reserve reservation reserved", "inform information", "calculate calculator calculation calculations", "recommend recommendation recommendations recommended",
		"create creates creating creation creator", "plan planning planned plans", "city cities", "box boxes",
		"buy bought buying", "analysis analyze analytics", "child children", "invest investing investment",
		"schedule scheduling scheduled", "summary summarize summaries", "search searches searching", "direction directions",
		"currency currencies", "delete deleting deleted", "copy copies copied", "payment paid pay",
	} {
		words := strings.Fields(family)
		for _, w := range words[1:] {
			if stem(w) != stem(words[0]) {
				t.Errorf("%s is %s, but %s is %s", w, stem(w), words[0], stem(words[0]))
			}
		}
	}
	for _, pair := range []string{"customer custom", "poster post", "new news", "number numb", "letter let", "ticker tick"} {
		a, b, _ := strings.Cut(pair, " ")
		if stem(a) == stem(b) {
			t.Errorf("%s and %s are both %s", a, b, stem(a))
		}
	}
	for _, w := range []string{"", "a", "is", "日本", "größe", "x1"} {
		if stem(w) != w {
			t.Errorf("stem(%q) = %q", w, stem(w))
		}
	}
}

// TestLexicon keeps the file readable by people and by newLexicon.
func TestLexicon(t *testing.T) {
	stop := stopWords()
	names := map[string]bool{}
	for line := range strings.Lines(lexiconText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, members, ok := strings.Cut(line, ":")
		if !ok || names[name] || strings.TrimSpace(name) != name || strings.Count(line, ";") > 1 || strings.Count(line, ">") > 1 {
			t.Errorf("bad or repeated line %.60q", line)
			continue
		}
		names[name] = true
		words := strings.Fields(strings.NewReplacer(";", " ", ">", " ").Replace(members))
		if len(words) < 2 {
			t.Errorf("%s has too few words", name)
		}
		for _, w := range words {
			if w != strings.ToLower(w) || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
				t.Errorf("%s: bad word %q", name, w)
			}
		}
	}
	lex := newLexicon(lexiconText, stop)
	if lex.concepts != len(names) || lex.concepts < 500 || len(lex.words) < 3000 {
		t.Errorf("%d concepts in %d lines, %d words", lex.concepts, len(names), len(lex.words))
	}
	for key, rels := range lex.words {
		for _, r := range rels {
			if r.weight <= 0 || r.weight > 1 || r.told <= 0 || r.told > 1 {
				t.Errorf("%s: %+v", key, r)
			}
		}
	}
}

func TestCut(t *testing.T) {
	docs := []Doc{{Name: "socialsearch"}, {Name: "themeparkwaits"}, {Name: "xqzzkv"}, {Name: "weather"}}
	x := New(docs)
	for query, want := range map[string]int{"social networks": 0, "theme park": 1, "forecast": 3} {
		hits := x.Search(query, 1)
		if len(hits) != 1 || hits[0].Doc != want {
			t.Errorf("%s: %+v", query, hits)
		}
	}
}
