package find

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestSearchFields(t *testing.T) {
	x := New([]Doc{
		{Name: "alpha", Description: "Knits pullovers."},
		{Name: "beta", Title: "Zebra counting"},
		{Name: "gamma", Params: []Param{{"okapi", ""}, {"x", "The quokka to feed."}}},
		{Name: "delta", Box: "narwhal", Server: "capybara-eu"},
		{Name: "deployZorbService"},
	})
	for query, want := range map[string]int{
		"a pullover please": 0, "count the zebras": 1, "okapi": 2, "quokkas": 2, "narwhal": 3, "capybara": 3,
		"zorb": 4, "deploy_zorb_service": 4, "deployzorbservice": 4, "alpha": 0, "zebrra": 1, "capibara": 3,
	} {
		hits := x.Search(query, 3)
		if len(hits) == 0 || hits[0].Doc != want || hits[0].Score <= 0 || len(hits[0].Why) == 0 {
			t.Errorf("%s: %+v", query, hits)
		}
	}
}

// A name said outright beats every description that fits.
func TestSearchByName(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	for i, d := range docs {
		for _, query := range []string{d.Name, strings.ReplaceAll(d.Name, "_", " "), "please use " + d.Name + " for this"} {
			if d.Name == "query" || d.Name == "click" || d.Name == "navigate" || d.Name == "grep" || d.Name == "evaluate" || d.Name == "geocode" {
				query = d.Name // an everyday word is a name only where it stands alone
			}
			hits := x.Search(query, 1)
			if len(hits) != 1 || hits[0].Doc != i {
				t.Errorf("%s: %s", query, names(docs, hits))
			}
		}
	}
}

// The name of a server in a query finds its tools, whatever else the query says
// and whatever the server appends to its name.
func TestSearchByServer(t *testing.T) {
	docs := []Doc{
		{Name: "create_issue", Box: "quux-tracker", Description: "Create an issue in a project."},
		{Name: "create_issue", Box: "zorb-mcp-server", Description: "Opens something new."},
		{Name: "create_issue", Server: "github", Description: "Create an issue in a repository."},
		{Name: "run", Box: "the", Description: "Runs it."},
		{Name: "new_issue", Box: "frob", Description: "Create an issue, a new issue, an issue in a project. Better than quux tracker, zorb and github."},
	}
	x := New(docs)
	for query, want := range map[string]int{
		"create an issue in zorb": 1, "zorb: create an issue in a project": 1, "open an issue on Quux Tracker": 0, "quuxtracker issue": 0,
		"create an issue in a project on github": 2, "use frob to create an issue": 4,
	} {
		if hits := x.Search(query, 1); len(hits) != 1 || hits[0].Doc != want {
			t.Errorf("%s: %+v, want %d", query, hits, want)
		}
	}
	if hits := x.Search("the", 5); len(hits) != 0 {
		t.Errorf("a stop word is the name of no server: %+v", hits)
	}
}

func TestSearchNothing(t *testing.T) {
	x := New(readTools(t))
	for _, query := range []string{"", "   ", "please could you", "qqqqqq xxxxxx", "\x00\xff", "🙂", "??!"} {
		if hits := x.Search(query, 5); len(hits) != 0 {
			t.Errorf("%q: %+v", query, hits)
		}
	}
	if hits := New(nil).Search("weather", 5); hits != nil {
		t.Errorf("empty index: %v", hits)
	}
	for _, limit := range []int{0, -1} {
		if hits := x.Search("weather", limit); hits != nil {
			t.Errorf("limit %d: %v", limit, hits)
		}
	}
	if hits := New(make([]Doc, 3)).Search("weather", 5); len(hits) != 0 {
		t.Errorf("empty documents: %v", hits)
	}
}

func TestSearchOtherLanguages(t *testing.T) {
	x := New([]Doc{
		{Name: "bing_search", Description: "使用必应搜索指定的关键词"},
		{Name: "weather_ru", Description: "Прогноз погоды на неделю"},
		{Name: "route", Description: "Trouver un itinéraire entre deux adresses"},
		{Name: "wetter", Description: "Wettervorhersage für eine Stadt"},
	})
	for query, want := range map[string]int{"搜索关键词": 0, "прогноз погоды": 1, "itineraire": 2, "Wettervorhersage Köln": 3} {
		if hits := x.Search(query, 2); len(hits) == 0 || hits[0].Doc != want {
			t.Errorf("%s: %+v", query, hits)
		}
	}
}

// The same documents and query give the same hits, in any number of
// goroutines, from an index built anew, and from one made by Of.
func TestSearchIsDeterministic(t *testing.T) {
	docs := readTools(t)
	queries := readQueries(t, docs)
	x, y := New(docs), New([]Doc{{Name: "other"}}).Of(docs)
	want := make([][]Hit, len(queries))
	for i, q := range queries {
		want[i] = x.Search(q.Query, 7)
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			index := []*Index{x, y}[g%2]
			for i, q := range queries {
				if diff := cmp.Diff(want[i], index.Search(q.Query, 7)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", q.Query, diff)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A smaller limit gives the head of what a larger one gives.
func TestSearchLimit(t *testing.T) {
	docs := manyTools(t, 300)
	x := New(docs)
	all := x.Search("send a message about the weather", len(docs)+10)
	if len(all) < 50 {
		t.Fatalf("only %d hits", len(all))
	}
	for i := 1; i < len(all); i++ {
		if all[i].Score > all[i-1].Score || all[i].Score == all[i-1].Score && all[i].Doc < all[i-1].Doc {
			t.Errorf("hit %d is out of order", i)
		}
	}
	for _, limit := range []int{1, 2, 5, 17} {
		if diff := cmp.Diff(all[:limit], x.Search("send a message about the weather", limit)); diff != "" {
			t.Errorf("limit %d (-want +got):\n%s", limit, diff)
		}
	}
}

// Tools that say nothing but popular words over and over must not come first.
func TestStuffedDescription(t *testing.T) {
	docs := readTools(t)
	docs = append(docs, Doc{Name: "best_tool", Description: strings.Repeat("weather forecast flights hotels translate stock email search files code ", 40)})
	x := New(docs)
	for _, c := range [][2]string{{"will it rain tomorrow", "get_forecast"}, {"translate this", "translate_text"}, {"send an email", "send_email"}} {
		hits := x.Search(c[0], 1)
		if len(hits) != 1 || docs[hits[0].Doc].Name != c[1] {
			t.Errorf("%s: %s", c[0], names(docs, hits))
		}
	}
}

func FuzzSearch(f *testing.F) {
	for _, q := range []string{"weather", "сколько времени", "天气", "a_b-c", "\xff\xfe", strings.Repeat("long ", 5000), "what's \"this\"?", "forcast", "save to /a/b.md", `\\x\y.png /.`} {
		f.Add(q, "some_toolName2", "Gets the forecast.")
	}
	base, lang := readTools(f)[:10], New(nil)
	f.Fuzz(func(t *testing.T, query, name, description string) {
		docs := append(slices.Clone(base), Doc{Name: name, Description: description, Params: []Param{{name, description}}})
		x := lang.Of(docs)
		hits := x.Search(query, 4)
		if len(hits) > 4 {
			t.Fatalf("%d hits", len(hits))
		}
		seen := map[int]bool{}
		for i, h := range hits {
			if h.Doc < 0 || h.Doc >= len(docs) || seen[h.Doc] || !(h.Score > 0) || len(h.Why) == 0 || len(h.Why) > maxWhy {
				t.Fatalf("hit %d: %+v", i, h)
			}
			seen[h.Doc] = true
			for _, w := range h.Why {
				if !utf8.ValidString(w) {
					t.Fatalf("why %q", w)
				}
			}
		}
		if again := x.Search(query, 4); fmt.Sprint(again) != fmt.Sprint(hits) {
			t.Fatalf("%v then %v", hits, again)
		}
		if n := Tokens(query); n < 0 || n > len(query) || query != "" && n == 0 && strings.TrimLeft(query, " \t") != "" {
			t.Fatalf("%d tokens in %d bytes", n, len(query))
		}
	})
}

func TestNearest(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	for wrong, want := range map[string]string{
		"send_mail": "send_email", "gmail.sendEmail": "send_email", "readfile": "read_file", "get_forcast": "get_forecast",
		"translate": "translate_text", "run_shell_command": "run_command", "umbrella_advice": "get_forecast",
	} {
		near := x.Nearest(wrong, 3)
		if len(near) == 0 || len(near) > 3 || docs[near[0]].Name != want {
			t.Errorf("%s: %v", wrong, near)
		}
	}
	for _, nothing := range []string{"", "\xff", "zzzz"} {
		if near := x.Nearest(nothing, 3); len(near) != 0 {
			t.Errorf("%q: %v", nothing, near)
		}
	}
	if near := x.Nearest("send_mail", 0); near != nil {
		t.Errorf("limit 0: %v", near)
	}
}

// A part that counts nothing must not bring a document in, or in twice.
func TestWeightsOfZero(t *testing.T) {
	lang := New(nil)
	lang.w.idea, lang.w.pair, lang.w.named = 0, 0, 0
	x := lang.Of(readTools(t))
	seen := map[int]bool{}
	for _, h := range x.Search("will it rain on the train to the weather station", 50) {
		if seen[h.Doc] || h.Score <= 0 {
			t.Errorf("%+v", h)
		}
		seen[h.Doc] = true
	}
	if hits := x.Search("umbrella", 5); len(hits) != 0 {
		t.Errorf("by a concept that counts nothing: %+v", hits)
	}
}

// In a long query every word speaks of a few concepts. The word or two that
// name the thing must not be outvoted by them.
func TestLongQueryKeepsItsWords(t *testing.T) {
	docs := append(readTools(t), Doc{Name: "close_books", Description: "Reconciles the entries of the zorb ledger."})
	x := New(docs)
	for query, want := range map[string]string{
		"It is raining and cold, so after the storm and the snow of last week, with all the wind, I stay in and reconcile zorb ledger entries":              "close_books",
		"We just came home from vacation: the flight, the hotel, the beach, the museum tours and the train were lovely. Reconcile the zorb ledger entries?": "close_books",
		"will I need an umbrella": "get_forecast", // said in no word of the tool
	} {
		if hits := x.Search(query, 1); len(hits) != 1 || docs[hits[0].Doc].Name != want {
			t.Errorf("%s: %s, want %s", query, names(docs, hits), want)
		}
	}
}
