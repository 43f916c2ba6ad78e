package finder

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/find"
)

// step is one deed of a task: what the agent would search for, in its own
// words, what it would try next, having seen the first results, and the call
// that does it.
type step struct{ ask, again, tool, args string }

type job struct {
	request string
	steps   []step
}

func tasks() []job {
	return []job{
		{"Report the login crash to the developers on GitHub.", []step{{"report a bug on github", "open an issue", "github_create_issue", `{"title":"Login crashes"}`}}},
		{"What will the weather be on Saturday?", []step{{"weather forecast", "will it rain", "weather_list_forecast", `{"filter":"Saturday"}`}}},
		{"Tell the team that the release is out.", []step{{"post a message to the team chat", "slack message", "slack_create_message", `{"title":"Release","content":"It is out."}`}}},
		{"Mail Anna the contract and put a meeting with her in my calendar.", []step{
			{"send an email", "write mail", "gmail_create_email", `{"title":"Contract"}`}, {"add a meeting to the calendar", "create calendar event", "gcal_create_event", `{"title":"Anna"}`}}},
		{"Bill ACME for ten hours.", []step{{"write an invoice", "bill a customer", "stripe_create_invoice", `{"title":"ACME"}`}}},
		{"Give order 77 its money back and tell support.", []step{
			{"give a customer money back", "refund a payment", "stripe_create_refund", `{"title":"77"}`}, {"open a support ticket", "customer support case", "zendesk_create_support_ticket", `{"title":"77"}`}}},
		{"Which pods crash in production?", []step{{"list the pods of the kubernetes cluster", "containers running in the cluster", "kubernetes_list_pod", `{"filter":"production"}`}}},
		{"What exceptions came up today, and is there an alert for them?", []step{
			{"latest exceptions of the application", "list exceptions in sentry", "sentry_list_exception", `{"since":"2026-11-15T00:00:00Z"}`}, {"alerts in monitoring", "grafana alert", "grafana_list_alert", `{}`}}},
		{"Find me a flight and a hotel for Rome.", []step{{"find flights", "plane tickets", "flights_list_flight", `{"filter":"Rome"}`}, {"find a hotel room", "accommodation in a city", "hotels_list_hotel", `{"filter":"Rome"}`}}},
		{"How is Apple trading?", []step{{"stock price of a company", "share quote", "stocks_list_share_quote", `{"filter":"AAPL"}`}}},
		{"What is bitcoin worth?", []step{{"bitcoin price", "cryptocurrency coin price", "crypto_list_coin_price", `{"filter":"BTC"}`}}},
		{"Make a playlist for running.", []step{{"make a playlist of songs", "music playlist", "music_create_playlist", `{"title":"Run"}`}}},
		{"Dim the lights and lower the heating.", []step{{"dim a lamp", "change a light at home", "home_update_lamp", `{"id":"1","title":"dim"}`}, {"lower the heating", "set the thermostat", "home_update_thermostat", `{"id":"1","title":"18"}`}}},
		{"Find papers on sleep and note their titles in Notion.", []step{{"search academic papers", "publications on a topic", "papers_list_publication", `{"filter":"sleep"}`}, {"write a page in notion", "create a note", "notion_create_page", `{"title":"Sleep"}`}}},
		{"What does the law say about noise?", []step{{"search laws", "statutes", "legal_list_statute", `{"filter":"noise"}`}}},
		{"Look for nursing jobs in Oslo.", []step{{"find vacancies", "job openings", "jobs_list_vacancy", `{"filter":"nurse Oslo"}`}}},
		{"Record my run and what I ate.", []step{{"record a workout", "create a workout entry", "health_create_workout", `{"title":"Run"}`}, {"log a meal", "record what I ate", "health_create_meal", `{"title":"Soup"}`}}},
		{"Upload the backup to the bucket.", []step{{"upload a file to object storage", "put an object into a bucket", "s3_create_object", `{"title":"backup"}`}}},
		{"Add Maria as a contact, open a deal for her and remind me tomorrow.", []step{
			{"add a person to the CRM", "create a contact", "hubspot_create_contact", `{"title":"Maria"}`}, {"open a sales deal", "create a deal", "hubspot_create_deal", `{"title":"Maria"}`}, {"set a reminder", "remind me tomorrow", "slack_create_reminder", `{"title":"Maria"}`}}},
		{"Ask for a day off on Friday.", []step{{"request vacation leave", "day off", "hr_create_leave_request", `{"title":"Friday"}`}}},
	}
}

const (
	systemTokens = 400 // the instructions every request begins with
	answerTokens = 60  // the agent's last words
	callTokens   = 15  // what a protocol puts around a call and its result
)

// ledger adds up what an agent's requests cost. Every request sends all that
// went before; a cache counts what the request before had already as a tenth,
// a warm one also what begins every task.
type ledger struct {
	context, seen       int // tokens so far; of these, what a request has sent
	turns, done, failed int
	plain, cached, warm float64
	shared              int // of seen, what the task before had sent too
}

// turn is one request, answered with so many tokens.
func (l *ledger) turn(answer int) {
	l.turns++
	l.plain += float64(l.context + answer)
	l.cached += float64(l.seen)/10 + float64(l.context-l.seen) + float64(answer)
	seen := max(l.seen, l.shared)
	l.warm += float64(seen)/10 + float64(l.context-seen) + float64(answer)
	l.seen = l.context
	l.context += answer
}

// use is a turn in which the agent calls a tool, and the result it gets.
func (l *ledger) use(name, args, result string) {
	l.turn(find.Tokens(name) + find.Tokens(args) + callTokens)
	l.context += find.Tokens(result) + callTokens
}

func (l *ledger) begin(definitions int, request string) {
	l.shared, l.seen = systemTokens+definitions, 0
	l.context = l.shared + find.Tokens(request)
}

// TestScriptedAgent measures what the search costs and saves for a finished
// task. Both agents do the same calls on the same crib; one is shown all 500
// definitions, the other finds what it needs. It tries a second wording if the
// first finds nothing, and reads a contract whole before a call that changes
// something. Neither ever picks a wrong tool that it was shown, which favours
// the agent that has 500 to pick from.
func TestScriptedAgent(t *testing.T) {
	tools := catalogOf(t, 500)
	c := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{cribtest.Allow()}}
	finder, err := Open(t.Context(), Config{}, Needs{Tools: c.Tools})
	if err != nil {
		t.Fatal(err)
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: append(boxes(tools), finder)}); faults != nil {
		t.Fatal(faults)
	}
	run := func(tool, args string) *toolcrib.Result {
		result, err := c.Call(t.Context(), toolcrib.Call{Tool: tool, Input: json.RawMessage(args), Caller: toolcrib.Caller{Subject: "agent"}})
		if err != nil {
			t.Fatalf("%s %s: %v", tool, args, err)
		}
		return result
	}
	full, search := 0, definition(CallTool())
	for spec := range c.Tools(toolcrib.Caller{Subject: "agent"}) {
		if spec.Box == Name {
			search += definition(spec)
		} else {
			full += definition(spec)
		}
	}
	var a, b ledger
	for _, task := range tasks() {
		a.begin(full, task.request)
		for _, s := range task.steps {
			a.use(s.tool, s.args, run(s.tool, s.args).String())
		}
		a.turn(answerTokens)
		a.done++

		b.begin(search, task.request)
		if searchAgent(t, &b, task, run) {
			b.done++
		} else {
			b.failed++
			t.Logf("not finished: %s", task.request)
		}
	}
	report(t, full, search, &a, &b)
	if b.failed > 0 || search >= 2000 || full < 50_000 {
		t.Errorf("%d tasks failed, definitions cost %d and %d tokens", b.failed, full, search)
	}
	if b.plain*5 > a.plain || b.cached*2 > a.cached || b.warm*2 > a.warm {
		t.Errorf("a finished task costs %.0f and %.0f tokens with search, %.0f and %.0f without", b.plain/20, b.cached/20, a.plain/20, a.cached/20)
	}
}

// searchAgent does a task with the three tools and reports whether it could.
func searchAgent(t *testing.T, l *ledger, task job, run func(tool, args string) *toolcrib.Result) bool {
	t.Helper()
	for _, s := range task.steps {
		found := false
		for _, query := range []string{s.ask, s.again} {
			args := fmt.Sprintf(`{"query":%q}`, query)
			result := run("search_tools", args).String()
			l.use("search_tools", args, result)
			if found = strings.Contains(result, `"name":"`+s.tool+`"`); found {
				break
			}
			t.Logf("%q does not find %s: %.300s", query, s.tool, result)
		}
		if !found {
			return false
		}
		if !strings.Contains(s.tool, "_list_") {
			args := fmt.Sprintf(`{"name":%q}`, s.tool)
			l.use("describe_tool", args, run("describe_tool", args).String())
		}
		l.use("call_tool", fmt.Sprintf(`{"name":%q,"arguments":%s}`, s.tool, s.args), run(s.tool, s.args).String())
	}
	l.turn(answerTokens)
	return true
}

func report(t *testing.T, full, search int, a, b *ledger) {
	t.Helper()
	n := float64(len(tasks()))
	t.Logf("%-28s %12s %12s", "per finished task", "all tools", "search")
	for _, row := range []struct {
		name string
		a, b float64
	}{
		{"definitions, tokens", float64(full), float64(search)},
		{"tasks finished", float64(a.done), float64(b.done)},
		{"turns", float64(a.turns) / n, float64(b.turns) / n},
		{"tokens, no cache", a.plain / n, b.plain / n},
		{"tokens, cached at a tenth", a.cached / n, b.cached / n},
		{"tokens, cache already warm", a.warm / n, b.warm / n},
	} {
		t.Logf("%-28s %12.1f %12.1f", row.name, row.a, row.b)
	}
}
