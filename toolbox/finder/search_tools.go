package finder

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"math"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/find"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed search_tools.md
var searchToolsText string

type searchIn struct {
	Query  string `json:"query" minlen:"1" maxlen:"1000" doc:"What is to be done, in words, or a tool's name."`
	Limit  int    `json:"limit" default:"5" min:"1" max:"20" doc:"How many at most."`
	Detail string `json:"detail" default:"summary" enum:"name,summary,full" doc:"full adds the input schema."`
}

type searchOut struct {
	Tools []found  `json:"tools" doc:"Best first."`
	More  []string `json:"more,omitempty" doc:"Names of those that fit next best."`
	Total int      `json:"total" doc:"How many tools were searched."`
}

type found struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Arguments   string          `json:"arguments,omitempty" doc:"Names and types; ? marks optional ones."`
	Box         string          `json:"box"`
	Score       float64         `json:"score" doc:"Fit against the best, which has 1."`
	Input       json.RawMessage `json:"input,omitempty" doc:"JSON Schema."`
}

// SearchTool is the name of the tool that searches.
const SearchTool = "search_tools"

const (
	maxMore      = 10   // tools that are merely named
	minMore      = 0.25 // their fit against the best
	maxSummary   = 300  // characters of a description
	maxArguments = 200
	perTool      = 280 // tokens of an answer, for each tool that was asked for; what is merely named comes on top
)

func (b box) searchTools() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name:        SearchTool,
		Title:       "Search tools",
		Description: searchToolsText,
		Effects:     toolcrib.Pure,
		Idempotent:  true,
		Group:       "search",
	}, func(ctx context.Context, env *toolcrib.Env, in searchIn) (searchOut, error) {
		specs := b.visible(env.Call.Caller)
		out := searchOut{Total: len(specs)}
		hits := b.search(ctx, env.Call.Caller, specs, in.Query, in.Limit+maxMore)
		out.More = further(hits, specs, in.Limit)
		hits = hits[:min(in.Limit, len(hits))]
		for _, h := range hits {
			score := math.Round(h.Score/hits[0].Score*100) / 100
			out.Tools = append(out.Tools, summarise(&specs[h.Doc], in.Detail, score))
		}
		if in.Detail == "full" {
			addInputs(out.Tools, hits, specs, perTool*in.Limit)
		}
		return out, ctx.Err()
	})
}

// further names what fits next best. One deed often takes several tools of a server
// (make a document, add a heading, save it), of which its words name the first: a
// name costs a tenth of a summary, and is enough to ask for the rest.
func further(hits []find.Hit, specs []toolcrib.Entry, limit int) []string {
	var names []string
	for _, h := range hits[min(limit, len(hits)):] {
		if h.Score < minMore*hits[0].Score {
			break
		}
		names = append(names, specs[h.Doc].Name)
	}
	return names
}

// search ranks by words, and by meaning too where there is an Embedder. If it
// fails that is told in the log, since words have answered all the same.
func (b box) search(ctx context.Context, caller toolcrib.Caller, specs []toolcrib.Entry, query string, limit int) []find.Hit {
	index := b.indexes.of(specs)
	if b.needs.Embedder == nil {
		if b.needs.Past == nil {
			return index.Search(query, limit)
		}
		name, uses := b.needs.Past(caller)
		return b.indexes.memoryOf(index, name, specs, uses).Search(query, limit)
	}
	hits, err := index.SearchWith(ctx, b.needs.Embedder, query, limit)
	if err != nil {
		b.needs.Log.Warn("searching tools by words alone", "error", err)
	}
	return hits
}

func summarise(s *toolcrib.Entry, detail string, score float64) found {
	f := found{Name: s.Name, Box: s.Box, Score: score}
	if detail != "name" {
		f.Description = text.ClipSentence(s.Description, maxSummary)
		f.Arguments = signature(s.Input)
	}
	return f
}

// addInputs puts in whole schemas, best tool first, as long as the answer
// stays small; a tool that gets none still has its arguments in short.
func addInputs(tools []found, hits []find.Hit, specs []toolcrib.Entry, budget int) {
	for i := range tools {
		budget -= cost(tools[i])
	}
	for i := range tools {
		full := tools[i]
		full.Arguments, full.Input = "", specs[hits[i].Doc].Input
		if full.Input == nil {
			continue
		}
		if more := cost(full) - cost(tools[i]); more <= budget {
			tools[i] = full
			budget -= more
		}
	}
}

func cost(f found) int {
	return find.Tokens(f.Name+f.Description+f.Arguments+f.Box+string(f.Input)) + find.Tokens(fmt.Sprintf(`{"name":"","description":"","box":"","score":%v}`, f.Score))
}
