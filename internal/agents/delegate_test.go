package agents

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/lineage"
	"github.com/toolcrib/toolcrib/internal/sessions"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/delegate"
)

// order has a lead delegate a task, wait for it, and say what came of it.
func order(r model.Request) model.Message {
	got := results(r)
	switch len(got) {
	case 0:
		return use("1", "delegate_to_avatar", map[string]string{"avatar_id": "helper", "task": "do it"})
	case 1:
		return use("2", "query_subagent_status", map[string]any{"agent_id": "helper", "wait_seconds": 60})
	}
	return say(got[1])
}

// team is a lead and a helper, each with a model of its own.
func team2(t testing.TB, lead, helper settings.Agent, mode string) *place {
	lead.Model, helper.Model = "leads", "helps"
	lead.Delegates = []string{"helper"}
	p := open(t, settings.Config{Mode: mode, Agents: map[string]settings.Agent{"lead": lead, "helper": helper}})
	p.think["leads"] = func(_ context.Context, r model.Request) model.Message { return order(r) }
	return p
}

// TestDelegation: an agent puts another to work and gets its report; both are kept, and
// the journal says who called for whom.
func TestDelegation(t *testing.T) {
	p := team2(t, settings.Agent{}, settings.Agent{Instructions: "Help."}, "yolo")
	var told string
	p.think["helps"] = func(_ context.Context, r model.Request) model.Message {
		if told = r.System; len(results(r)) == 0 {
			return use("x", "change", none{})
		}
		return say("it is done")
	}
	s := p.session(t, Options{Caller: as("lead")})
	deep := 0
	out, err := s.Turn(t.Context(), model.Text(model.User, "have it done"), func(e agent.Event) {
		if e.Depth > 0 && e.Kind == agent.CallResult && e.Agent == "lead/helper" {
			deep++
		}
	})
	if err != nil || !strings.Contains(out.Text, "it is done") || !strings.Contains(out.Text, `"status":"completed"`) {
		t.Fatalf("%v, %+v", err, out)
	}
	if deep != 1 {
		t.Errorf("watchers saw %d results of the delegate", deep)
	}
	if out.Delegated.Input != 20 || out.Usage.Input != 50 {
		t.Errorf("%+v", out)
	}
	if !strings.HasPrefix(told, "Help.") || !strings.Contains(told, "Another agent has put you to work") {
		t.Errorf("%q", told)
	}
	calls := p.calls()
	if len(calls) != 1 || calls[0].Caller.Agent != "lead/helper" || !strings.HasPrefix(calls[0].Caller.Session, s.ID()+"/dlg-") {
		t.Fatalf("%+v", calls)
	}
	chain := map[string]toolcrib.Record{}
	for _, r := range p.journal.Records() {
		chain[r.ID] = r
	}
	if parent := chain[calls[0].Parent]; parent.Native != "delegate_to_avatar" || parent.Caller.Agent != "lead" {
		t.Errorf("its parent is %+v", parent)
	}
	list, err := p.store.List(Owner(ann), sessions.Filter{Parent: s.ID()})
	if err != nil || len(list) != 1 || !list[0].Delegated() || list[0].Call != calls[0].Parent || list[0].Agent != "lead/helper" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := p.Open(t.Context(), Options{Caller: ann, Resume: list[0].ID}); err == nil {
		t.Error("the session of a delegate is gone on with by itself")
	}
}

// TestMeet: a delegate may do what both may, whichever of them is the stricter.
func TestMeet(t *testing.T) {
	type agentT = settings.Agent
	deny := func(tools ...string) settings.Permissions { return settings.Permissions{Deny: tools} }
	for name, tt := range map[string]struct {
		lead, helper agentT
		mode, tool   string
		want         string // in what the helper is answered; empty: it ran
	}{
		"both may":                     {agentT{}, agentT{}, "yolo", "change", ""},
		"lead in plan":                 {agentT{Mode: "plan"}, agentT{Mode: "yolo"}, "yolo", "change", "agent lead: the mode is plan"},
		"helper in plan":               {agentT{Mode: "yolo"}, agentT{Mode: "plan"}, "yolo", "change", "agent helper: the mode is plan"},
		"lead asks":                    {agentT{Mode: "default"}, agentT{Mode: "yolo"}, "yolo", "change", "person"},
		"helper asks":                  {agentT{Mode: "yolo"}, agentT{Mode: "default"}, "yolo", "change", "person"},
		"lead sees less":               {agentT{Profile: "minimal"}, agentT{Profile: "full"}, "yolo", "change", "there is no"},
		"helper sees less":             {agentT{Profile: "full"}, agentT{Profile: "minimal"}, "yolo", "change", "there is no"},
		"lead is denied":               {agentT{Permissions: deny("change")}, agentT{}, "yolo", "change", "a rule of the agent lead"},
		"helper is denied":             {agentT{}, agentT{Permissions: deny("change")}, "yolo", "change", "a rule of the agent helper"},
		"only helper is allowed":       {agentT{}, agentT{Permissions: settings.Permissions{Allow: []string{"change"}}}, "default", "change", "person"},
		"only lead is allowed":         {agentT{Permissions: settings.Permissions{Allow: []string{"change"}}}, agentT{}, "default", "change", "person"},
		"both are allowed":             {agentT{Permissions: settings.Permissions{Allow: []string{"change"}}}, agentT{Permissions: settings.Permissions{Allow: []string{"change"}}}, "default", "change", ""},
		"assigned to the helper alone": {agentT{}, agentT{Tools: []string{"secret"}}, "yolo", "secret", "there is no"},
		"assigned to both":             {agentT{Tools: []string{"secret"}}, agentT{Tools: []string{"secret"}}, "yolo", "secret", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := team2(t, tt.lead, tt.helper, tt.mode)
			answer := make(chan string, 1)
			p.think["helps"] = func(_ context.Context, r model.Request) model.Message {
				if len(results(r)) == 0 {
					return use("x", tt.tool, none{})
				}
				answer <- results(r)[0]
				return say("over")
			}
			turn(t, p.session(t, Options{Caller: as("lead")}), "go")
			got := <-answer
			if ran := len(p.calls()) == 1; ran != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("it ran: %v; %s", ran, got)
			}
		})
	}
}

// TestDelegateWidens: a delegate that tries by every way it has to do more.
func TestDelegateWidens(t *testing.T) {
	p := team2(t, settings.Agent{}, settings.Agent{}, "yolo")
	var shown []string
	tried := make(chan string, 100)
	meta := []string{"delegate_to_avatar", "spawn_subagent", "chat_with_avatar", "send_message_to_agent", "query_subagent_status", "cancel_subagent", "retry_subagent", "check_resources", "list_avatars"}
	p.think["helps"] = func(_ context.Context, r model.Request) model.Message {
		for _, d := range r.Tools {
			shown = append(shown, string(d))
		}
		done := len(results(r))
		if done > 0 {
			tried <- results(r)[done-1]
		}
		if done < len(meta) { // each under its own name, and as if it were shown
			return use(meta[done], meta[done], map[string]any{"avatar_id": "helper", "agent_id": "helper", "task": "more", "message": "more", "name": "x", "role": "y"})
		}
		close(tried)
		return say("over")
	}
	s := p.session(t, Options{Caller: as("lead")})
	turn(t, s, "go")
	for got := range tried {
		if !strings.Contains(got, "there is no tool") && !strings.Contains(got, "puts nobody to work") {
			t.Errorf("a meta tool answered a delegate: %s", got)
		}
	}
	for _, d := range shown {
		for _, name := range meta {
			if strings.Contains(d, name) {
				t.Errorf("a delegate's model is shown %s", name)
			}
		}
	}
	if n := len(p.journal.Records()); n != len(meta)+2 {
		t.Errorf("%d calls are recorded, want %d", n, len(meta)+2)
	}

	// What a caller can name itself. The delegate has ended by now.
	var ended toolcrib.Caller
	for _, r := range p.journal.Records() { // the lead's calls may stand before and behind
		if lineage.Delegate(r.Caller.Agent) {
			ended = r.Caller
		}
	}
	child := s.ID() + "/dlg-00000000"
	for name, c := range map[string]toolcrib.Caller{
		"a delegate that has ended":        ended,
		"made up":                          {Subject: "ann", Agent: "lead/helper", Session: child},
		"made up in the lead's session":    {Subject: "ann", Agent: "lead/helper", Session: s.ID()},
		"made up without a session":        {Subject: "ann", Agent: "lead/helper"},
		"a lead in a delegate's session":   {Subject: "ann", Agent: "lead", Session: child},
		"nobody in a delegate's session":   {Subject: "ann", Session: child},
		"three deep":                       {Subject: "ann", Agent: "lead/lead/lead", Session: child},
		"unknown presets":                  {Subject: "ann", Agent: "x/y", Session: child},
		"nothing before the sign":          {Subject: "ann", Agent: "/helper", Session: s.ID()},
		"nothing around the sign":          {Subject: "ann", Agent: "/", Session: s.ID()},
		"the sign alone behind a name":     {Subject: "ann", Agent: "lead/", Session: s.ID()},
		"somebody else's delegate session": {Subject: "bob", Agent: "lead/helper", Session: child},
	} {
		for _, tool := range []string{"look", "change", "delegate_to_avatar"} {
			r, err := p.crib.Call(t.Context(), toolcrib.Call{Tool: tool, Caller: c, Input: json.RawMessage(`{}`)})
			if err == nil {
				t.Errorf("%s: %s answered %s", name, tool, r)
			}
		}
		if _, err := p.Open(t.Context(), Options{Caller: c}); err == nil && strings.Contains(c.Agent, "/") {
			t.Errorf("%s: was opened", name)
		}
		if _, err := p.Agent(t.Context(), Options{Caller: c}); err == nil && strings.Contains(c.Agent, "/") {
			t.Errorf("%s: was made", name)
		}
	}
	if err := s.SetAgent(t.Context(), "lead/helper"); err == nil {
		t.Error("a session became a delegate")
	}
	if len(p.calls()) > 0 {
		t.Errorf("%+v ran", p.calls())
	}
}

// TestRunningDelegate: while it works, only its own caller acts in its name.
func TestRunningDelegate(t *testing.T) {
	p := team2(t, settings.Agent{}, settings.Agent{}, "yolo")
	at, free := make(chan toolcrib.Caller, 1), make(chan struct{})
	p.think["helps"] = func(ctx context.Context, r model.Request) model.Message {
		if len(results(r)) == 0 {
			return use("x", "look", none{})
		}
		at <- p.calls()[0].Caller
		select {
		case <-free:
		case <-ctx.Done():
		}
		return say("over")
	}
	s := p.session(t, Options{Caller: as("lead")})
	ended := make(chan string, 1)
	go func() {
		out, err := s.Turn(t.Context(), model.Text(model.User, "go"), nil)
		if err != nil {
			ended <- err.Error()
			return
		}
		ended <- out.Text
	}()
	c := <-at
	try := func(c toolcrib.Caller, tool string) error {
		_, err := p.crib.Call(t.Context(), toolcrib.Call{Tool: tool, Caller: c})
		return err
	}
	if err := try(c, "look"); err != nil {
		t.Errorf("its own caller is refused: %v", err)
	}
	for name, change := range map[string]func(*toolcrib.Caller){
		"another subject":      func(c *toolcrib.Caller) { c.Subject = "bob" },
		"another agent":        func(c *toolcrib.Caller) { c.Agent = "lead" },
		"another lineage":      func(c *toolcrib.Caller) { c.Agent = "helper/lead" },
		"its own name alone":   func(c *toolcrib.Caller) { c.Agent = "helper" },
		"no agent":             func(c *toolcrib.Caller) { c.Agent = "" },
		"another organisation": func(c *toolcrib.Caller) { c.Organisation = "x" },
		"another token":        func(c *toolcrib.Caller) { c.Token = "x" },
		"the lead's session":   func(c *toolcrib.Caller) { c.Session = s.ID() },
	} {
		other := c
		change(&other)
		if err := try(other, "look"); err == nil {
			t.Errorf("%s acts in the delegate's name", name)
		}
	}
	// Nobody else finds it.
	for _, other := range []toolcrib.Caller{{Subject: "ann", Agent: "lead", Session: "another"}, {Subject: "bob", Agent: "lead", Session: s.ID()}, c} {
		if list, err := p.Team().Status(t.Context(), toolcrib.Call{Caller: other}, "", 0); len(list) > 0 {
			t.Errorf("%+v finds %v, %v", other, list, err)
		}
		if _, err := p.Team().Cancel(toolcrib.Call{Caller: other}, "helper"); err == nil {
			t.Errorf("%+v ends it", other)
		}
	}
	close(free)
	if got := <-ended; !strings.Contains(got, "over") {
		t.Error(got)
	}
}

// TestSubagent: a worker has the rights of who puts it to work, or less.
func TestSubagent(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Agents: map[string]settings.Agent{"helper": {}}, Delegation: settings.Delegation{Delegates: []string{"helper"}}})
	input := map[string]any{"name": "digger", "role": "finds things", "task": "dig", "tools": []string{"look"}, "attachments": []map[string]string{{"name": "map", "content": "here"}}}
	var got []string
	var first model.Request
	p.think[""] = func(_ context.Context, r model.Request) model.Message {
		if strings.Contains(r.System, "You are digger") {
			switch got = results(r); len(got) {
			case 0:
				first = r
				return use("a", "look", none{})
			case 1:
				return use("b", "change", none{})
			}
			return say("dug")
		}
		if len(results(r)) == 0 {
			return use("1", "spawn_subagent", input)
		}
		if len(results(r)) == 1 {
			return use("2", "query_subagent_status", map[string]any{"wait_seconds": 60})
		}
		return say(results(r)[1])
	}
	s := p.session(t, Options{Caller: ann})
	if answer := turn(t, s, "dig"); !strings.Contains(answer, "dug") || !strings.Contains(answer, `"completed":1`) {
		t.Fatal(answer)
	}
	if calls := p.calls(); len(calls) != 1 || calls[0].Caller.Agent != "/" || !strings.HasPrefix(calls[0].Caller.Session, s.ID()+"/sa-") {
		t.Errorf("%+v", calls)
	}
	if len(got) != 2 || !strings.Contains(got[1], "other tools only") && !strings.Contains(got[1], "there is no tool") {
		t.Errorf("%q", got)
	}
	if len(first.Tools) != 1 || !strings.Contains(first.Messages[0].Said(), "map:\nhere") {
		t.Errorf("%d tools, %q", len(first.Tools), first.Messages[0].Said())
	}
	// The list holds also where the model is not what chooses.
	w := p.live[s.ID()].tasks[0].session
	p.enter(w.work)
	defer p.leave(w.work)
	if _, err := p.crib.Call(t.Context(), toolcrib.Call{Tool: "change", Caller: w.Caller()}); err == nil || !strings.Contains(err.Error(), "other tools only") {
		t.Errorf("%v", err)
	}
	if _, err := p.Team().Start(t.Context(), toolcrib.Call{Caller: s.Caller()}, delegate.Order{Name: "helper", Task: "x"}); err == nil || !strings.Contains(err.Error(), "delegate_to_avatar") {
		t.Errorf("%v", err)
	}
}

// TestLimits: how many work at once, for how long, and on whose budget.
func TestLimits(t *testing.T) {
	cfg := settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}, AtOnce: 2, Time: 50 * time.Millisecond},
		Agents: map[string]settings.Agent{"helper": {Model: "slow"}, "lead": {Delegates: []string{"helper"}, Budget: settings.AgentBudget{Calls: 3}}}}
	p := open(t, cfg)
	p.think["slow"] = func(ctx context.Context, _ model.Request) model.Message {
		<-ctx.Done()
		return say("late")
	}
	p.script("")
	s := p.session(t, Options{Caller: ann})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	o := delegate.Order{Avatar: "helper", Task: "x"}
	for range 2 {
		if _, err := p.Team().Start(t.Context(), call, o); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.Team().Start(t.Context(), call, o); err == nil || !strings.Contains(err.Error(), "at_once") {
		t.Errorf("%v", err)
	}
	list, err := p.Team().Status(t.Context(), call, "", time.Minute)
	if err != nil || len(list) != 2 || list[0].State != failed || !strings.Contains(list[0].Error, "50ms") {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := p.Team().Start(t.Context(), toolcrib.Call{Caller: ann}, o); err == nil || !strings.Contains(err.Error(), "no session") {
		t.Errorf("%v", err)
	}
	if _, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "lead", Task: "x"}); err == nil || !strings.Contains(err.Error(), `no agent "lead"`) {
		t.Errorf("%v", err)
	}

	// What a delegate uses, its lead has used.
	cfg.Delegation.Time = time.Minute
	p = open(t, cfg)
	var said []string
	p.think["slow"] = func(_ context.Context, r model.Request) model.Message {
		if said = results(r); len(said) < 5 {
			return use("x", "look", none{})
		}
		return say("over")
	}
	p.think[""] = func(_ context.Context, r model.Request) model.Message { return order(r) }
	lead := p.session(t, Options{Caller: as("lead")})
	turn(t, lead, "go")
	if _, err := p.Team().Status(t.Context(), toolcrib.Call{Caller: lead.Caller()}, "", time.Minute); err != nil {
		t.Fatal(err)
	}
	if n := len(p.calls()); n > 2 || n == 0 { // the delegation itself is one of the three, and asking for it may be
		t.Errorf("%d ran on a budget of 3", n)
	}
	if len(said) == 0 || !strings.Contains(said[len(said)-1], "has made its 3 calls") {
		t.Errorf("%q", said)
	}
}

// TestMessagesAndEnd: one that works is told more afterwards, one that has ended goes on,
// and all end with the session.
func TestMessagesAndEnd(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps"}}})
	p.script("")
	step := make(chan struct{})
	p.think["helps"] = func(ctx context.Context, r model.Request) model.Message {
		select {
		case <-step:
		case <-ctx.Done():
		}
		return say("to " + r.Messages[len(r.Messages)-1].Said())
	}
	s := p.session(t, Options{Caller: ann})
	call := toolcrib.Call{ID: "c", Caller: s.Caller()}
	one, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "first"})
	if err != nil || one.State != running {
		t.Fatalf("%+v, %v", one, err)
	}
	if _, err := p.Team().Tell(t.Context(), call, one.ID, "second"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Team().Retry(t.Context(), call, one.ID, ""); err == nil || !strings.Contains(err.Error(), "still works") {
		t.Errorf("%v", err)
	}
	step <- struct{}{}
	step <- struct{}{}
	end := func() delegate.Status {
		t.Helper()
		list, err := p.Team().Status(t.Context(), call, one.ID, time.Minute)
		if err != nil || len(list) != 1 {
			t.Fatalf("%v, %v", list, err)
		}
		return list[0]
	}
	if got := end(); got.State != completed || got.Summary != "to second" {
		t.Errorf("%+v", got)
	}
	if _, err := p.Team().Tell(t.Context(), call, "helper", "third"); err != nil {
		t.Fatal(err)
	}
	step <- struct{}{}
	if got := end(); got.State != completed || got.Summary != "to third" {
		t.Errorf("%+v", got)
	}
	if was, err := p.store.Load(Owner(ann), one.Session); err != nil || was.Turns() != 3 || was.Fault != nil {
		t.Errorf("%v, %+v", err, was)
	}
	if _, err := p.Team().Retry(t.Context(), call, one.ID, "anew"); err != nil {
		t.Fatal(err)
	}
	if got, err := p.Team().Cancel(call, "helper"); err != nil || got.State != cancelled {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := p.Team().Start(t.Context(), call, delegate.Order{Avatar: "helper", Task: "for ever"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(p.live); n != 0 {
		t.Errorf("%d are still at work", n)
	}
}

// TestAsk: a question needs no tools and leaves nobody at work.
func TestAsk(t *testing.T) {
	p := open(t, settings.Config{Mode: "yolo", Delegation: settings.Delegation{Delegates: []string{"helper"}}, Agents: map[string]settings.Agent{"helper": {Model: "helps", Instructions: "Know things.\nAll of them.", Role: "knows"}}})
	p.think["helps"] = func(_ context.Context, r model.Request) model.Message {
		if len(r.Tools) > 0 || !strings.HasPrefix(r.System, "Know") {
			return say("what is this?")
		}
		return say("  forty-two\n  and   more " + strings.Repeat("x", 400))
	}
	p.script("", use("1", "list_avatars", none{}), use("2", "chat_with_avatar", map[string]string{"avatar_id": "helper", "message": "what?"}), use("3", "check_resources", none{}), say("ok"))
	s := p.session(t, Options{Caller: ann})
	turn(t, s, "ask")
	got := results(model.Request{Messages: s.Messages()})
	if !strings.Contains(got[0], `"avatar_id":"helper"`) || !strings.Contains(got[0], `"role":"knows"`) {
		t.Error(got[0])
	}
	var reply struct {
		OK    bool   `json:"ok"`
		Reply string `json:"reply"`
		Relay string `json:"relay_text"`
	}
	if err := json.Unmarshal([]byte(got[1]), &reply); err != nil || !reply.OK || len(reply.Reply) < 400 || !strings.HasPrefix(reply.Relay, "forty-two and more x") || len(reply.Relay) > 290 {
		t.Errorf("%v, %+v", err, reply)
	}
	if !strings.Contains(got[2], `"active_subagents":0`) {
		t.Error(got[2])
	}
	if len(p.live) != 1 {
		t.Errorf("%d are at work", len(p.live))
	}
}
