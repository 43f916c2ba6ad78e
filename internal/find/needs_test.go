package find

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNeedsOf(t *testing.T) {
	x := New(nil)
	for query, want := range map[string][]string{
		"book a flight and tell me the weather":                {"book a flight", "tell me the weather"},
		"Translate this letter, then email it to Bob.":         {"Translate this letter", "email it to Bob"},
		"What is the capital of Peru, what is its population?": {"What is the capital of Peru", "what is its population"},
		"Resize the picture. Also, please send it to Ann!":     {"Resize the picture", "send it to Ann"},
		"查一下天气。翻译这封信":                                          {"查一下天气", "翻译这封信"},
		"find restaurants and bars near the station":           nil, // one thing
		"search and replace in files":                          nil,
		"version 1.2.3 of example.com":                         nil,
		"Hello! Can you help me? What is the weather?":         nil, // two pieces that say nothing
		"weather": nil,
		"":        nil,
		" and , ": nil,
	} {
		if diff := cmp.Diff(want, x.needsOf(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	if n := len(x.needsOf("rain? snow? wind? hail? fog? frost? heat? sun?")); n != maxNeeds {
		t.Errorf("%d needs, want %d", n, maxNeeds)
	}
}

// Each of several needs gets its tool into the first hits, also if one of them
// is said in more words that fit.
func TestSeveralNeeds(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	for query, want := range map[string][]string{
		"create an illustration of a robot and then rename report.txt to final.txt": {"generate_image", "move_file"},
		"turn off the bedroom lamp, and what happened in the world today":           {"set_light", "top_headlines"},
		"graph column B over time? And dinner idea without gluten":                  {"plot_chart", "find_recipes"},
		"read the page at this URL and what do you know about my preferences":       {"fetch_url", "recall_facts"},
	} {
		hits := x.Search(query, 3)
		for _, w := range want {
			if !contains(docs, hits, w, 3) {
				t.Errorf("%s: %s, want %s", query, names(docs, hits), w)
			}
		}
	}
}
