package telemetry

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Sources is what is looked at when somebody asks for the numbers. What is nil
// has none.
type Sources struct {
	Version   string
	Tools     func() int                // on the shelves
	Servers   func() []Server           // MCP servers of the hub
	Questions func(context.Context) int // that wait for a person; negative: it cannot be told
	Journal   func() (bytes int64, sound bool)
	Budgets   func() map[string]float64 // the share that is used, by the name of the budget
	Started   time.Time
}

// Server is how an MCP server of the hub is doing.
type Server struct {
	Name, State                      string
	Running, Tools, Starts, Failures int // Failures: since it was set up
}

// States are those that a server can be in.
func States() []string { return []string{"up", "starting", "idle", "failed"} }

// Metrics is the numbers of one crib.
type Metrics struct {
	families []*family

	calls, callTime         *family
	refusals                *family
	questions, questionTime *family
	requests, requestTime   *family
	outgoing, outgoingTime  *family
	journalTime             *family
	changed                 *family
	sessions                atomic.Int64
	spans                   atomic.Pointer[Exporter]
}

// NewMetrics makes the numbers. The order here is that of the page and of
// docs/telemetry.md.
func NewMetrics(of Sources) *Metrics {
	m := &Metrics{}
	family := func(kind, name, help string, open int, read func(add func(float64, ...string)), labels ...string) *family {
		f := &family{kind: kind, name: name, help: help, open: open, read: read, labels: labels}
		if kind == histogram {
			f.bounds = bounds()
		}
		m.families = append(m.families, f)
		return f
	}
	m.calls = family(counter, "toolcrib_calls_total", "Calls that have ended, by outcome: done, failed (the tool, or its command), or a code such as denied, timeout or cancelled.", 2, nil, "toolbox", "tool", "outcome")
	m.callTime = family(histogram, "toolcrib_call_duration_seconds", "How long calls took, from the first record to the last, with the time that people took.", 1, nil, "toolbox")
	m.refusals = family(counter, "toolcrib_refusals_total", "Calls that were denied, by who denied them: a guard, person, grant (the tool wanted more than it was granted) or default (no guard had a word on it).", 1, nil, "guard")
	m.questions = family(counter, "toolcrib_questions_total", "Questions to people that have ended: allowed, edited, denied, remembered (allowed before), left (it waits in toolcrib approvals), unattended (nobody to ask), timeout, cancelled or error.", 0, nil, "answer")
	m.questionTime = family(histogram, "toolcrib_question_duration_seconds", "How long calls waited for people, without answers that were remembered.", 0, nil)
	family(gauge, "toolcrib_questions_open", "Questions that wait for a person now.", 0, func(add func(float64, ...string)) {
		if of.Questions == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if n := of.Questions(ctx); n >= 0 {
			add(float64(n))
		}
	})
	m.requests = family(counter, "toolcrib_mcp_requests_total", "Requests of MCP clients, by method and by error: empty, tool_error, or a JSON-RPC code.", 0, nil, "method", "error")
	m.requestTime = family(histogram, "toolcrib_mcp_request_duration_seconds", "How long requests of MCP clients took, without those that wait for changes.", 0, nil, "method")
	family(gauge, "toolcrib_mcp_sessions", "Sessions of MCP clients of the legacy era that are open; one over stdio counts as one.", 0, func(add func(float64, ...string)) { add(float64(m.sessions.Load())) })
	m.outgoing = family(counter, "toolcrib_mcp_client_requests_total", "Requests to MCP servers of the hub, by error: empty, tool_error, a JSON-RPC code, timeout, cancelled, closed or error.", 1, nil, "server", "method", "error")
	m.outgoingTime = family(histogram, "toolcrib_mcp_client_request_duration_seconds", "How long MCP servers of the hub took to answer.", 1, nil, "server")
	m.serverFamilies(family, of)
	m.journalTime = family(histogram, "toolcrib_journal_append_duration_seconds", "How long the journal took to keep a record: begin before a call, end after it.", 0, nil, "record")
	family(gauge, "toolcrib_journal_bytes", "Size of the journal on the disk.", 0, func(add func(float64, ...string)) {
		if of.Journal == nil {
			return
		}
		if size, _ := of.Journal(); size >= 0 {
			add(float64(size))
		}
	})
	family(gauge, "toolcrib_journal_sound", "1 while the journal can write, 0 while it cannot and calls are refused.", 0, func(add func(float64, ...string)) {
		if of.Journal != nil {
			_, sound := of.Journal()
			add(bit(sound))
		}
	})
	m.changed = family(counter, "toolcrib_results_changed_total", "Results that were changed before their caller got them: secrets (taken out or told of), injection (marked as from outside), size (cut).", 0, nil, "by")
	family(gauge, "toolcrib_budget_used_ratio", "How much of a budget is used, 1 for all of it. Of one that is counted apart for each caller, the fullest.", 1, func(add func(float64, ...string)) {
		if of.Budgets != nil {
			used := of.Budgets()
			for _, name := range slices.Sorted(maps.Keys(used)) {
				add(used[name], name)
			}
		}
	}, "budget")
	m.ownFamilies(family, of)
	return m
}

type newFamily func(kind, name, help string, open int, read func(add func(float64, ...string)), labels ...string) *family

// serverFamilies are those about single MCP servers.
func (m *Metrics) serverFamilies(family newFamily, of Sources) {
	each := func(value func(Server) float64) func(add func(float64, ...string)) {
		return func(add func(float64, ...string)) {
			if of.Servers == nil {
				return
			}
			for _, s := range of.Servers() {
				add(value(s), s.Name)
			}
		}
	}
	family(gauge, "toolcrib_mcp_server_state", "1 for the state that an MCP server of the hub is in: up, starting, idle (it is started when it is needed) or failed.", 1, func(add func(float64, ...string)) {
		if of.Servers == nil {
			return
		}
		for _, s := range of.Servers() {
			for _, state := range States() {
				add(bit(state == s.State), s.Name, state)
			}
		}
	}, "server", "state")
	family(gauge, "toolcrib_mcp_server_instances", "How many of it run: people may have one each.", 1, each(func(s Server) float64 { return float64(s.Running) }), "server")
	family(gauge, "toolcrib_mcp_server_tools", "How many of its tools are approved.", 1, each(func(s Server) float64 { return float64(s.Tools) }), "server")
	family(counter, "toolcrib_mcp_server_starts_total", "How often it was started, with restarts.", 1, each(func(s Server) float64 { return float64(s.Starts) }), "server")
	family(counter, "toolcrib_mcp_server_failures_total", "How often it could not be started, or ended soon after.", 1, each(func(s Server) float64 { return float64(s.Failures) }), "server")
}

// ownFamilies are those about this program.
func (m *Metrics) ownFamilies(family newFamily, of Sources) {
	family(gauge, "toolcrib_tools", "Tools on the shelves.", 0, func(add func(float64, ...string)) {
		if of.Tools != nil {
			add(float64(of.Tools()))
		}
	})
	spans := func(value func(*Exporter) uint64) func(add func(float64, ...string)) {
		return func(add func(float64, ...string)) {
			if e := m.spans.Load(); e != nil {
				add(float64(value(e)))
			}
		}
	}
	family(counter, "toolcrib_spans_sent_total", "Spans that the collector has taken.", 0, spans(func(e *Exporter) uint64 { return e.sent.Load() }))
	family(counter, "toolcrib_spans_dropped_total", "Spans that were lost: too many at once, or the collector did not take them.", 0, spans(func(e *Exporter) uint64 { return e.dropped.Load() }))
	family(gauge, "toolcrib_build_info", "1, with the version of the program.", 0, func(add func(float64, ...string)) { add(1, of.Version) }, "version")
	family(gauge, "process_start_time_seconds", "When the program was started, in seconds since 1970.", 0, func(add func(float64, ...string)) {
		add(float64(of.Started.UnixMilli()) / 1000)
	})
	family(gauge, "go_goroutines", "Goroutines that exist now.", 0, func(add func(float64, ...string)) { add(float64(runtime.NumGoroutine())) })
}

func bit(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// Rows lists the metrics as a table for people.
func (m *Metrics) Rows() (out [][4]string) {
	for _, f := range m.families {
		out = append(out, [4]string{f.name, f.kind, strings.Join(f.labels, ", "), f.help})
	}
	return out
}
