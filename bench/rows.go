package main

import "fmt"

// row is one promise: a benchmark, what of it is looked at, and the target.
type row struct {
	Name   string // what is measured, in words
	Pkg    string // where the benchmark is
	Bench  string // its name without "Benchmark", with its sub-names
	Metric string // ns/op, or one that the benchmark reports itself
	// The target: one of these. With a Peer the number is the ratio of the
	// row to the peer, a benchmark of the same package and metric.
	AtMost, AtLeast float64
	Peer            string
}

// table is the list of promises. Times are in nanoseconds.
func table() []row {
	const root, schema, store, app = ".", "./internal/schema", "./internal/store", "./internal/app"
	const files, linux = "./toolbox/files", "./internal/sandbox/linux"
	const policy, cli, bus = "./internal/policy", "./internal/cli", "./internal/ovos/bus"
	const conformance, find = "./internal/conformance", "./internal/find"
	rows := []row{
		{Name: "a call of a pure tool with nine arguments, no journal", Pkg: root, Bench: "Call", Metric: "ns/op", AtMost: 10_000},
		{Name: "the same against the bare work of the tool, unchecked", Pkg: root, Bench: "Call", Metric: "ns/op", AtMost: 4, Peer: "CallDirect"},
		{Name: "the same from every core at once against one", Pkg: root, Bench: "CallParallel", Metric: "ns/op", AtMost: 0.8, Peer: "Call"},
		{Name: "the same refused for six bad fields against done", Pkg: root, Bench: "CallInvalid", Metric: "ns/op", AtMost: 2, Peer: "Call"},
		{Name: "loading 10,000 tools", Pkg: root, Bench: "CatalogLoad10k", Metric: "ns/op", AtMost: 1e9},
		{Name: "finding one of 10,000 tools against one of 10", Pkg: root, Bench: "Resolve/10000", Metric: "ns/op", AtMost: 1.3, Peer: "Resolve/10"},
		{Name: "a call among 10,000 tools against 10", Pkg: root, Bench: "CallAmong/10000", Metric: "ns/op", AtMost: 1.3, Peer: "CallAmong/10"},
		{Name: "listing, per tool, 10,000 tools against 10", Pkg: root, Bench: "Tools/10000", Metric: "ns/tool", AtMost: 1.3, Peer: "Tools/10"},

		{Name: "admitting nine arguments against decoding them by encoding/json", Pkg: schema, Bench: "Admit/all_given", Metric: "ns/op", AtMost: 1, Peer: "Admit/decode_only"},
		{Name: "validating a parsed value against the same", Pkg: schema, Bench: "Admit/validate_only", Metric: "ns/op", AtMost: 0.3, Peer: "Admit/decode_only"},

		{Name: "Begin and End in the SQLite journal, one caller, median", Pkg: store, Bench: "JournalOne", Metric: "µs-p50", AtMost: 130},
		{Name: "a call with the SQLite journal, one caller, median", Pkg: app, Bench: "CallJournalOne", Metric: "p50-ns", AtMost: 150_000},
		{Name: "calls with the SQLite journal, 16 callers", Pkg: app, Bench: "CallJournal16", Metric: "calls/s", AtLeast: 15_000},

		{Name: "a call with everything on, added to one with the journal alone, median", Pkg: app, Bench: "CallGoverned", Metric: "µs-added", AtMost: 100},
		{Name: "toolcrib policy explain, the whole program, median", Pkg: cli, Bench: "PolicyExplain/files", Metric: "ms-p50", AtMost: 50},
		{Name: "the same for a command line, sandbox looked at", Pkg: cli, Bench: "PolicyExplain/command", Metric: "ms-p50", AtMost: 50},
		{Name: "vetting 1 MB of prose for a model, all vetters, median", Pkg: app, Bench: "Vet/prose/files", Metric: "ms-p50", AtMost: 20},
		{Name: "the same, of source as a value", Pkg: app, Bench: "Vet/source/files", Metric: "ms-p50", AtMost: 20},
		{Name: "the same, of 12,000 records as a value", Pkg: app, Bench: "Vet/records/files", Metric: "ms-p50", AtMost: 20},
		{Name: "the same, from outside", Pkg: app, Bench: "Vet/records/foreign", Metric: "ms-p50", AtMost: 20},
		{Name: "messages fanned out to ten clients of the bus", Pkg: bus, Bench: "FanOut/sockets", Metric: "msg/s", AtLeast: 20_000},
		{Name: "1,000 rules, added to the judging of a file tool", Pkg: policy, Bench: "RulesAdded/write", Metric: "µs-added", AtMost: 20},
		{Name: "1,000 rules, added to that of a command", Pkg: policy, Bench: "RulesAdded/command", Metric: "µs-added", AtMost: 20},
		{Name: "1,000 rules, one of them about the command's program", Pkg: policy, Bench: "RulesAdded/named", Metric: "µs-added", AtMost: 20},
		{Name: "1,000 rules, added to that of a tool of an MCP server", Pkg: policy, Bench: "RulesAdded/mcp", Metric: "µs-added", AtMost: 20},
		{Name: "1,000 rules, added to that of a fetch", Pkg: policy, Bench: "RulesAdded/fetch", Metric: "µs-added", AtMost: 20},

		{Name: "an MCP call through the gateway, added to the direct one, median", Pkg: conformance, Bench: "Gateway/modern", Metric: "µs-added", AtMost: 500},
		{Name: "16 clients through it, calls/s against direct", Pkg: conformance, Bench: "Gateway/modern", Metric: "rate-ratio-16", AtLeast: 0.5},
		{Name: "its memory with 20 servers", Pkg: conformance, Bench: "Gateway/modern", Metric: "MB-peak", AtMost: 60},
		{Name: "the same call in a session, added, median", Pkg: conformance, Bench: "Gateway/legacy", Metric: "µs-added", AtMost: 500},
		{Name: "16 clients in sessions, calls/s against direct", Pkg: conformance, Bench: "Gateway/legacy", Metric: "rate-ratio-16", AtLeast: 0.5},
		{Name: "toolcrib tools list with 50 servers, the whole program", Pkg: cli, Bench: "ToolsList50", Metric: "ns/op", AtMost: 150e6},
		{Name: "searching 5,000 tools", Pkg: find, Bench: "Search5000/ranking", Metric: "ns/op", AtMost: 5e6},

		{Name: "a program in the linux sandbox, added to a plain one, median", Pkg: linux, Bench: "True/cgroups", Metric: "ms-added", AtMost: 15},
	}
	for _, tree := range []string{"go", "small"} {
		for _, q := range []struct {
			queries []string
			what    string
			most    float64
		}{
			{[]string{"literal", "common", "nothing", "fold", "foldcommon"}, "a text", 1.3},
			{[]string{"regex", "alternatives", "foldregex"}, "a pattern with a text in it", 1.6},
			{[]string{"noliteral", "words", "classes"}, "a pattern without one", 3},
		} {
			for _, name := range q.queries {
				rows = append(rows, row{Name: "search_files for " + q.what + " against rg", Pkg: files, Bench: "Search/" + name + "/" + tree, Metric: "ratio", AtMost: q.most})
			}
		}
		rows = append(rows,
			row{Name: "memory of a search against rg", Pkg: files, Bench: "SearchMemory/literal/" + tree, Metric: "ratio", AtMost: 2},
			row{Name: "memory of a search against rg", Pkg: files, Bench: "SearchMemory/fold/" + tree, Metric: "ratio", AtMost: 2},
			row{Name: "memory of a search against rg", Pkg: files, Bench: "SearchMemory/noliteral/" + tree, Metric: "ratio", AtMost: 2},
			row{Name: "list_files, recursive, against fd", Pkg: files, Bench: "List/recursive/" + tree, Metric: "ratio", AtMost: 1.3},
		)
	}
	return rows
}

// result is a row with what was measured.
type result struct {
	Name      string  `json:"name"`
	Benchmark string  `json:"benchmark"`
	Metric    string  `json:"metric"`
	Value     float64 `json:"value"`
	Peer      string  `json:"peer,omitempty"`
	PeerValue float64 `json:"peer_value,omitempty"`
	Ratio     float64 `json:"ratio,omitempty"`
	Target    string  `json:"target"`
	Allocs    float64 `json:"allocs_per_op"`
	Verdict   verdict `json:"verdict"`
}

type verdict string

const (
	met     verdict = "met"
	missed  verdict = "missed"
	missing verdict = "missing" // a benchmark did not run
)

// judge compares what was measured with the target.
func (r row) judge(got measures) result {
	res := result{Name: r.Name, Benchmark: r.Bench, Metric: r.Metric, Peer: r.Peer, Target: r.target(), Verdict: missing}
	value, ok := got.median(r.Bench, r.Metric)
	if !ok {
		return res
	}
	res.Value = value
	res.Allocs, _ = got.median(r.Bench, "allocs/op")
	if r.Peer != "" {
		peer, ok := got.median(r.Peer, r.Metric)
		if !ok || peer == 0 {
			return res
		}
		res.PeerValue, res.Ratio = peer, value/peer
		value = res.Ratio
	}
	res.Verdict = missed
	if (r.AtMost > 0 && value <= r.AtMost) || (r.AtLeast > 0 && value >= r.AtLeast) {
		res.Verdict = met
	}
	return res
}

func (r row) target() string {
	word, n := "at most", r.AtMost
	if r.AtLeast > 0 {
		word, n = "at least", r.AtLeast
	}
	if r.Peer != "" {
		return fmt.Sprintf("%s %g × %s", word, n, r.Peer)
	}
	return word + " " + human(n, r.Metric)
}
