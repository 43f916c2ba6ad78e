package find

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestForeignQueries holds the figure for queries that are not in English over
// tools that are.
func TestForeignQueries(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	figure := map[string]*figures{}
	for _, row := range rows(t, "testdata/foreign.txt") {
		if len(row) != 3 {
			t.Fatalf("foreign.txt: bad row %q", row)
		}
		if figure[row[0]] == nil {
			figure[row[0]] = &figures{}
		}
		hits := x.Search(row[1], 10)
		figure[row[0]].add(docs, places(hits), row[2])
		if testing.Verbose() && !contains(docs, hits, row[2], 5) {
			t.Logf("missed %q: want %s, have %s", row[1], row[2], names(docs, hits))
		}
	}
	for language, floor := range map[string]float64{"es": 90, "de": 88, "fr": 90, "zh": 95} {
		f := figure[language]
		if f == nil || f.n < 40 {
			t.Fatalf("%s: too few queries to say anything", language)
		}
		f.log(t, language)
		if f.recall5() < floor {
			t.Errorf("%s: recall at 5 is %.1f, want %.0f", language, f.recall5(), floor)
		}
	}
}

func TestTongueOf(t *testing.T) {
	stop, tongues := stopWords(), newTongues()
	for query, want := range map[string]tongue{
		"Was ist die Temperatur in Berlin":      german,
		"pon una alarma para las siete":         spanish,
		"éteins la lumière de la chambre":       french, //nolint:misspell // French; its small words are Spanish, too
		"apaga la luz de la cocina":             spanish,
		"what will it be like in the evening":   english,
		"a chat on the pain in my hand":         english,
		"die casting and dice":                  english,
		"weather berlin":                        anyTongue,
		"LIST C DRIVE":                          anyTongue,
		"":                                      anyTongue,
		"把这封信翻译成英文":                             anyTongue,
		"I want el niño data for the last year": english,
	} {
		if got := tongues.of(tokens(query), stop); got != want {
			t.Errorf("%s: %d, want %d", query, got, want)
		}
	}
}

func TestLookUp(t *testing.T) {
	tongues := newTongues()
	for _, c := range []struct {
		in         tongue
		word, want string
	}{
		{german, "wetter", "weather"}, {german, "wettervorhersage", "weather forecast"}, {german, "aktienkurs", "stock share"}, {german, "ubersetzung", "translate"},
		{german, "protokolldatei", "log file"}, {spanish, "traduciendo", "translate"}, {spanish, "correos", "email mail"}, {french, "factures", "invoice"},
		{german, "wetterhexenhaus", ""}, {spanish, "tor", ""}, {french, "", ""}, {chinese, "天气", "weather"},
	} {
		if got := strings.Join(tongues.lookUp(c.in, c.word), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.word, got, c.want)
		}
	}
}

// Words of a query keep their own form where the documents have it, and English
// words are left alone.
func TestTranslated(t *testing.T) {
	x := New([]Doc{{Name: "wetter", Description: "Wetter für eine Stadt"}, {Name: "forecast", Description: "Weather forecast"}})
	for query, want := range map[string]string{
		"wie ist das Wetter":        "wetter weather",
		"the forecast of a luz":     "the forecast of a luz",
		"paraguas":                  "umbrella",
		"天气 in Paris":               "weather in paris",
		"der Zorb ist in der Stadt": "zorb stadt city",
	} {
		var got []string
		for _, w := range x.translated(tokens(query)) {
			got = append(got, w.english)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	hits := x.Search("paraguas", 1)
	if len(hits) != 1 || len(hits[0].Why) != 1 || hits[0].Why[0] != "paraguas" {
		t.Errorf("the words that led there are those of the query: %+v", hits)
	}
}

// TestTonguesFile keeps the file readable by people and by newTongues.
func TestTonguesFile(t *testing.T) {
	for line := range strings.Lines(tonguesText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		to, columns, ok := strings.Cut(line, ":")
		if !ok || to != strings.ToLower(to) || strings.Count(columns, "|") != int(tongueCount)-1 || strings.Contains(line, "_") {
			t.Errorf("bad line %.60q", line)
		}
		for column := range strings.SplitSeq(columns, "|") {
			if len(strings.Fields(column)) == 0 {
				t.Errorf("%s: a language has no word", to)
			}
		}
	}
	for i, words := range newTongues().words {
		if len(words) < 250 {
			t.Errorf("language %d has %d words", i, len(words))
		}
	}
}

// TestForeignTools: a tool that is described in another language is found by those
// who ask in English, and a gloss makes no word of an English tool less rare.
func TestForeignTools(t *testing.T) {
	docs := []Doc{
		{Name: "top_1", Description: "获取微博热搜榜，包含时事热点和娱乐新闻"},
		{Name: "cook_2", Description: "根据菜谱名称查询完整详情，包括食材、步骤等"},
		{Name: "bahn_3", Description: "Sucht eine Zugverbindung von einem Bahnhof zu einem anderen und zeigt die Preise."},
		{Name: "correo_4", Description: "Envía un correo con un archivo a una persona de la agenda."},
		{Name: "meteo_5", Description: "Donne les prévisions de la météo pour une ville et pour les jours qui viennent."},
		{Name: "play_6", Description: "Plays a song."},
	}
	x := New(docs)
	for query, want := range map[string]int{
		"trending news": 0, "get a recipe": 1, "train station": 2, "send an email": 3, "weather forecast for a city": 4, "play music": 5,
		"微博热搜": 0, "Zugverbindung": 2,
	} {
		if hits := x.Search(query, 3); len(hits) == 0 || hits[0].Doc != want {
			t.Errorf("%s: %v, want %d first", query, hits, want)
		}
	}
	if got := x.glosses(tokens("Send an email to a person of the team")); got != nil {
		t.Errorf("an English text has glosses: %q", got)
	}
}
