package find

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSlipOf(t *testing.T) {
	for pair, want := range map[string]slip{
		"mial mail": swapped, "amil mail": swapped, "flie file": swapped, "wether weather": missed, "weathher weather": missed, "emal email": missed,
		"weather weathre": swapped, "forcast forecast": missed, "telezcope telescope": wrong, "mail mail": noSlip, "mall mail": noSlip, "post posts": missed,
		"ail mail": noSlip, "email mail": noSlip, "heather weather": noSlip, "liam mail": noSlip, "raintomorrow rain": noSlip, "trian train": swapped,
	} {
		a, b, _ := strings.Cut(pair, " ")
		if got := slipOf(a, b); got != want {
			t.Errorf("%s: %d, want %d", pair, got, want)
		}
		if got := slipOf(b, a); got != want {
			t.Errorf("%s, the other way round: %d, want %d", pair, got, want)
		}
	}
}

func TestNear(t *testing.T) {
	s := newSpelling([]string{"mail", "male", "weather", "calendar", "calender", "fly", "größe", "notes", "noted", "notify", strings.Repeat("a", 30)})
	for word, want := range map[string][]string{
		"mial": {"mail"}, "waether": {"weather"}, "calandar": {"calendar"}, "calenddar": {"calendar"}, "calendr": {"calendar", "calender"}, "note": {"noted", "notes"},
		"flly": nil, "fl": nil, "": nil, "größ": nil, "xxxx": nil, strings.Repeat("a", 29): nil, strings.Repeat("a", 24): nil,
	} {
		var got []string
		for _, m := range likeliest(s.near(word, nil)) {
			got = append(got, m.word)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", word, diff)
		}
	}
	many := newSpelling([]string{"boats", "boatz", "boatx", "boaty", "boatw"})
	if got := likeliest(many.near("boat", nil)); len(got) != maxSlips {
		t.Errorf("%v: want %d guesses", got, maxSlips)
	}
}

// Slips in short words are forgiven, in the words of tools and in those of the
// lexicon; words that are merely short and alike are not taken for each other.
func TestSearchMisspelt(t *testing.T) {
	docs := readTools(t)
	x := New(docs)
	for query, want := range map[string]string{
		"sned an eamil": "send_email", "wlil it rian": "get_forecast", "trun off the lihgt": "set_light", "tarnslate tihs": "translate_text", //nolint:misspell // it is what is tried
		"read a flie": "read_file", "hotle in Lisbon": "search_hotels", "umbrela": "get_forecast", //nolint:misspell // it is what is tried
	} {
		if hits := x.Search(query, 5); !contains(docs, hits, want, 3) {
			t.Errorf("%s: %s, want %s", query, names(docs, hits), want)
		}
	}
	y := New([]Doc{{Name: "desk", Description: "Desk and card."}, {Name: "form", Description: "A form."}})
	for _, query := range []string{"disk", "care", "ford", "dosk"} {
		if hits := y.Search(query, 5); len(hits) != 0 {
			t.Errorf("%s: %+v", query, hits)
		}
	}
}
