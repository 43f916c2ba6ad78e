package market

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/find"
)

// merged puts together what several registries have and what is the same: the same kind,
// name and version, and the same content or command. What only has the same name stays
// apart, since anybody may call a thing by the name of another.
func merged(list []Result) []Result {
	var out []Result
	at := map[string]int{}
	for _, r := range list {
		key := strings.Join([]string{r.Kind, strings.ToLower(r.Name), r.Version, identity(r)}, "\x00")
		i, there := at[key]
		if !there || identity(r) == "" {
			at[key] = len(out)
			out = append(out, r)
			continue
		}
		if have := &out[i]; have.Registry != r.Registry && !slices.Contains(have.Also, r.Registry) {
			have.Also = append(have.Also, r.Registry)
		}
	}
	return out
}

// identity is what makes two results the same thing; empty: that is not known.
func identity(r Result) string {
	switch {
	case r.Server != nil:
		return strings.Join(append([]string{"server", r.Server.Command, r.Server.URL}, r.Server.Args...), "\x00")
	case r.Digest != "":
		return strings.ToLower(r.Digest)
	case r.Source != "":
		return r.Source
	}
	return ""
}

// rank puts what was asked for first: the very name, then names that begin with it, then
// by the words of name and description. Without a query the order is that of the names.
func rank(list []Result, query string) []Result {
	query = strings.ToLower(strings.TrimSpace(query))
	if query == "" {
		slices.SortStableFunc(list, func(a, b Result) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
		return list
	}
	docs := make([]find.Doc, len(list))
	for i, r := range list {
		docs[i] = find.Doc{Name: r.Name, Description: r.Description}
	}
	score := make([]float64, len(list))
	for _, hit := range find.New(docs).Search(query, len(list)) {
		score[hit.Doc] = hit.Score
	}
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(
			cmp.Compare(nearness(list[b].Name, query), nearness(list[a].Name, query)),
			cmp.Compare(score[b], score[a]),
			strings.Compare(list[a].Name, list[b].Name))
	})
	out := make([]Result, len(list))
	for i, at := range order {
		out[i] = list[at]
	}
	return out
}

// nearness says how much of a name a query is.
func nearness(name, query string) int {
	name = strings.ToLower(name)
	short := name[strings.LastIndexByte(name, '/')+1:]
	switch {
	case name == query:
		return 4
	case short == query:
		return 3
	case strings.HasPrefix(short, query) || strings.HasPrefix(name, query):
		return 2
	case strings.Contains(name, query):
		return 1
	}
	return 0
}
