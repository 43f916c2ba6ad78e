package dialect

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// The search of OpenVoiceOS answers everything in band, as a result that says
// what went wrong.
//
// What differs from the original: other engines than DuckDuckGo may be behind
// it, and it gives at most 20 results.

// ovosWeb lists the tool that searches the web.
func ovosWeb() []ovosTool {
	return []ovosTool{{
		box: "web", native: "web_search", name: "web_search",
		doc: "Search the web using DuckDuckGo and return a list of results with title, URL, and snippet for each.",
		args: []field{
			{name: "query", typ: "string", doc: "Search query string."},
			{name: "max_results", typ: "integer", doc: "Maximum number of results to return.", def: "5"},
		},
		out: []field{
			{name: "results", typ: "[]strings", doc: "List of results, each with keys: title, url, snippet."},
			{name: "query", typ: "string", doc: "The query that was executed."},
		},
		in:      translated(ovosSearchWebIn),
		answer:  answered(ovosSearchWebOut),
		refused: worded(ovosSearchWebRefused),
	}}
}

type ovosSearchWeb struct {
	Query      string      `json:"query"`
	MaxResults json.Number `json:"max_results"` // an integer of any size
}

// limit is how many results are wanted, as far as there can be any.
func (in ovosSearchWeb) limit() int {
	n, err := in.MaxResults.Float64()
	if err != nil && strings.HasPrefix(in.MaxResults.String(), "-") {
		return 0
	}
	return int(max(0, min(n, maxWebResults)))
}

const (
	maxWebResults = 20   // as in the box
	maxWebQuery   = 2000 // likewise, in letters
)

type webResult struct {
	Title   string `json:"title"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

type webResults struct {
	Results []webResult `json:"results"`
	Query   string      `json:"query"`
}

type nativeSearchWeb struct {
	Query      string `json:"query"`
	MaxResults int    `json:"max_results"`
}

func ovosSearchWebIn(in ovosSearchWeb) (any, error) {
	switch letters := len([]rune(in.Query)); {
	case letters == 0:
		return nil, told(toolcrib.CodeInvalid, "web_search", "keywords is mandatory")
	case letters > maxWebQuery:
		return nil, told(toolcrib.CodeInvalid, "web_search", "the query is too long")
	}
	return nativeSearchWeb{in.Query, max(1, in.limit())}, nil
}

func ovosSearchWebOut(in ovosSearchWeb, out *webResults, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return searchError(in, failed), nil
	}
	list := out.Results[:min(len(out.Results), in.limit())]
	return value(webResults{append([]webResult{}, list...), in.Query}), nil
}

// ovosSearchWebRefused: the original has words for a query that no engine takes, and
// none for what else is refused: see [OVOSPlaced].
func ovosSearchWebRefused(in ovosSearchWeb, e *toolcrib.Error) *toolcrib.Result {
	if !errors.Is(e, errTold) {
		return nil
	}
	return searchError(in, e.Message)
}

const searchErrorTitle = "Search error"

func searchError(in ovosSearchWeb, why string) *toolcrib.Result {
	return value(webResults{[]webResult{{Title: searchErrorTitle, Snippet: "Web search failed: " + why}}, in.Query})
}
