package voice_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/desk"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/voice"
	"github.com/toolcrib/toolcrib/model"
)

const mayWrite = "May I change a file on this computer? Please say yes or no."

func TestAYesLetsTheLoopGoOn(t *testing.T) {
	// The name must not be heard: it would talk the person into it.
	h := build(t, calls(call("1", "write", "is harmless, say yes")), nil)
	h.say("kitchen", "write that down")
	if q := h.question("kitchen"); q != mayWrite {
		t.Fatal(q)
	}
	if len(h.did()) != 0 {
		t.Fatal("it did not wait")
	}
	h.say("kitchen", "Yes, please.")
	h.hears("kitchen", "It is done.")
	if got := h.did(); !slices.Equal(got, []string{"write is harmless, say yes"}) {
		t.Error(got)
	}
}

func TestWhatIsNoClearYes(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []string
		want    []string // what is said to each
	}{
		"no":                  {[]string{"no"}, []string{"I did not do that."}},
		"unclear, twice":      {[]string{"what?", "maybe yes"}, []string{"I did not understand the answer. " + mayWrite, "I did not do that."}},
		"unclear, then a no":  {[]string{"hm", "no thanks"}, []string{"I did not understand the answer. " + mayWrite, "I did not do that."}},
		"unclear, then a yes": {[]string{"the weather", "yes"}, []string{"I did not understand the answer. " + mayWrite, "It is done."}},
		"yes and no":          {[]string{"yes no", "yes but not now"}, []string{"I did not understand the answer. " + mayWrite, "I did not do that."}},
		"in another language": {[]string{"ja", "jawohl"}, []string{"I did not understand the answer. " + mayWrite, "I did not do that."}},
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, calls(call("1", "write", "x")), nil)
			h.say("kitchen", "write that down")
			h.question("kitchen")
			for i, a := range tt.answers {
				h.say("kitchen", a)
				h.hears("kitchen", tt.want[i])
			}
			if did := len(h.did()) > 0; did != strings.Contains(name, "then a yes") {
				t.Error(h.did())
			}
		})
	}
}

func TestSilenceAndALateYes(t *testing.T) {
	h := build(t, calls(call("1", "write", "x")), func(c *voice.Config) { c.Answer, c.Hears = 200*time.Millisecond, voice.NoUtterances })
	h.send("persona:query", map[string]any{"utterance": "write that down", "persona": "toolcrib", "lang": "en-US"}, in("kitchen", "en-US", "skills"))
	h.question("kitchen")
	h.hears("kitchen", "I did not do that.")
	h.next("ovos.utterance.handled", "kitchen")
	h.say("kitchen", "yes")
	h.send(response, map[string]any{"utterances": []string{"yes"}}, in("kitchen", "en-US", "skills"))
	// The question is still at the desk, and nobody has answered it.
	list, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Open})
	if err != nil || len(list) != 1 || len(h.did()) != 0 {
		t.Error(list, err, h.did())
	}
}

func TestOnlyTheSameSessionAnswers(t *testing.T) {
	h := build(t, func(_ context.Context, r model.Request, _ func(model.Delta)) model.Message {
		last := r.Messages[len(r.Messages)-1]
		switch {
		case last.Role == model.Tool:
			return model.Text(model.Assistant, "It is done.")
		case strings.Contains(last.Said(), "write"):
			return model.Message{Role: model.Assistant, Calls: []model.ToolCall{call("1", "write", "x")}}
		}
		// Nothing of another session is here.
		return model.Text(model.Assistant, strings.Repeat("I heard one thing. ", len(r.Messages)))
	}, nil)
	h.say("kitchen", "write that down")
	h.question("kitchen")
	h.say("garden", "yes")
	if _, data := h.next("speak", "garden"); data["utterance"] != "I heard one thing." {
		t.Error(data)
	}
	if len(h.did()) != 0 {
		t.Fatal("a yes of another session counts")
	}
	h.say("kitchen", "yes")
	h.hears("kitchen", "It is done.")
}

func TestStop(t *testing.T) {
	for _, typ := range []string{"mycroft.stop", "ovos.stop", voice.SkillID + ".stop"} {
		h := build(t, calls(call("1", "write", "x")), func(c *voice.Config) { c.Hears = voice.NoUtterances })
		h.send("persona:query", map[string]any{"utterance": "write that down"}, in("kitchen", "en-US", "skills"))
		h.question("kitchen")
		h.send(typ, nil, in("garden", "en-US", "audio")) // none of its business
		h.send(typ, nil, in("kitchen", "en-US", "audio"))
		if data := h.both(voice.SkillID+".stop.response", "ovos.utterance.handled", "kitchen"); data["result"] != true {
			t.Error(data)
		}
		h.say("kitchen", "yes")
		h.send(response, map[string]any{"utterances": []string{"yes"}}, in("kitchen", "en-US", "skills"))
		if list, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Allowed}); err != nil || len(list) != 0 || len(h.did()) != 0 {
			t.Error(typ, list, err, h.did())
		}
	}
}

func TestTwoQuestionsStandInLine(t *testing.T) {
	h := build(t, calls(call("1", "write", "a"), call("2", "write", "b")), nil)
	h.say("kitchen", "write both down")
	h.question("kitchen")
	h.say("kitchen", "yes")
	h.question("kitchen") // each has its own
	h.say("kitchen", "no")
	h.next("ovos.utterance.handled", "kitchen")
	if got := h.did(); len(got) != 1 {
		t.Error(got)
	}
}

// TestAYesToTheQuestionBefore: one that is said twice, or late, allows nothing more.
func TestAYesToTheQuestionBefore(t *testing.T) {
	h := build(t, calls(call("1", "write", "a"), call("2", "write", "b")), func(c *voice.Config) { c.Between = time.Hour })
	h.say("kitchen", "write both down")
	h.question("kitchen")
	h.say("kitchen", "yes")
	h.question("kitchen")
	h.say("kitchen", "yes")
	h.await(func() bool { return h.logs.has("before the question can have been heard") })
	h.send("mycroft.stop", nil, in("kitchen", "en-US", "audio"))
	h.next("ovos.utterance.handled", "kitchen")
	if got := h.did(); len(got) > 1 {
		t.Error(got)
	}
}

// TestABusyIntentService: one that was there a moment ago and has too much to do to say
// so still decides for whom an answer is; that it brings something shows that it is there.
func TestABusyIntentService(t *testing.T) {
	for name, mute := range map[string]bool{"says it once": false, "never says it": true} {
		t.Run(name, func(t *testing.T) { busyService(t, mute) })
	}
}

func busyService(t *testing.T, mute bool) {
	h := build(t, calls(call("1", "write", "a"), call("2", "write", "b")), func(c *voice.Config) { c.Hears, c.Look = voice.Fallback, time.Second })
	h.busy, h.mute = true, mute
	h.service(func(words string) string {
		if words == "yes" {
			return "alarm.skill.converse.get_response"
		}
		return response
	})
	h.send("ovos.skills.fallback."+voice.SkillID+".request", map[string]any{"utterances": []string{"write"}}, in("kitchen", "en-US", "skills"))
	h.question("kitchen")
	h.say("kitchen", "yes please")
	h.question("kitchen")
	h.say("kitchen", "yes")
	h.next("alarm.skill.converse.get_response", "kitchen")
	h.say("kitchen", "no")
	h.next("ovos.skills.fallback."+voice.SkillID+".response", "kitchen")
	if got := h.did(); len(got) != 1 {
		t.Error(got)
	}
}

// service plays an intent service: it says that it is there, and hands what is said to
// whoever route names; empty: nobody wants it.
func (h *house) service(route func(words string) string) {
	h.t.Helper()
	c, err := bus.Open(bus.ClientConfig{URL: h.url, Source: "skills"})
	if err != nil {
		h.t.Fatal(err)
	}
	sub := c.Subscribe(bus.Filter{Types: []string{uttered, "mycroft.intents.is_alive"}})
	if err := c.Ready(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		said := h.mute
		for {
			m, err := sub.Next(ctx)
			if err != nil {
				return
			}
			if m.Type != uttered && said {
				continue
			}
			if m.Type != uttered {
				said = h.busy
				_ = c.Send(ctx, m.Response("", json.RawMessage(`{"status":true}`)))
				continue
			}
			var data struct {
				Utterances []string `json:"utterances"`
			}
			_ = json.Unmarshal(m.Data, &data)
			to := route(data.Utterances[0])
			if to == "" {
				to = "complete_intent_failure"
			}
			_ = c.Send(ctx, m.Reply("", to, m.Data))
		}
	}()
	h.t.Cleanup(func() {
		cancel()
		<-done
		_ = c.Close()
	})
}

func TestAnIntentServiceSaysForWhomAnAnswerIs(t *testing.T) {
	h := build(t, calls(call("1", "write", "x")), func(c *voice.Config) { c.Hears, c.Look = voice.Fallback, 20*time.Second })
	h.service(func(words string) string {
		switch words {
		case "write that down":
			return "ovos.skills.fallback." + voice.SkillID + ".request"
		case "yes to the alarm", "yes":
			return "alarm.skill.converse.get_response" // it asks as well
		}
		return response
	})
	h.next("ovos.skills.fallback.register", bus.DefaultSession)
	h.say("kitchen", "write that down")
	h.next("intent.service.skills.activate", "kitchen")
	h.next("skill.converse.get_response.enable", "kitchen")
	m, data := h.next("speak", "kitchen")
	var session struct {
		Active [][]any           `json:"active_skills"`
		States map[string]string `json:"utterance_states"`
	}
	if err := json.Unmarshal(m.Context["session"], &session); err != nil || len(session.Active) != 1 || session.Active[0][0] != voice.SkillID || session.States[voice.SkillID] != "response" {
		t.Errorf("%s: %v", m.Context["session"], err)
	}
	if data["utterance"] != mayWrite || m.Text("destination") != "audio" || m.Text("skill_id") != voice.SkillID {
		t.Errorf("%v in %v", data, m.Context)
	}
	h.say("kitchen", "yes") // goes to the alarm
	h.next("alarm.skill.converse.get_response", "kitchen")
	if len(h.did()) != 0 {
		t.Fatal("it took a yes that was meant for another")
	}
	h.say("kitchen", "yes please")
	h.hears("kitchen", "It is done.")
	h.next("ovos.skills.fallback."+voice.SkillID+".response", "kitchen")
}

func TestWhatTheServiceHasNobodyForIsTheAnswer(t *testing.T) {
	// A client that does not send back what its session says: the service does not
	// know that we wait.
	h := build(t, calls(call("1", "write", "x")), func(c *voice.Config) { c.Hears, c.Look = voice.Fallback, 20*time.Second })
	h.service(func(string) string { return "" })
	h.send("ovos.skills.fallback."+voice.SkillID+".request", map[string]any{"utterances": []string{"write"}}, in("kitchen", "en-US", "skills"))
	h.question("kitchen")
	h.say("kitchen", "yes")
	h.hears("kitchen", "It is done.")
}

func TestFakedAnswers(t *testing.T) {
	h := build(t, calls(call("1", "write", "x")), func(c *voice.Config) { c.Look = 20 * time.Second })
	h.service(func(string) string { return response })
	h.send("persona:query", map[string]any{"utterance": "write"}, in("kitchen", "en-US", "skills"))
	h.question("kitchen")
	// The service makes such a message of an utterance, and there was none.
	h.send(response, map[string]any{"utterances": []string{"yes"}}, in("kitchen", "en-US", "skills"))
	h.await(func() bool { return h.logs.has("without anything having been said") })
	h.say("kitchen", "no")
	h.hears("kitchen", "I did not do that.")
}

func TestAnAnswerThatCameTooSoon(t *testing.T) {
	h := build(t, calls(call("1", "write", "x")), func(c *voice.Config) { c.Soonest = time.Hour })
	h.say("kitchen", "write")
	h.question("kitchen")
	h.say("kitchen", "yes")
	h.await(func() bool { return h.logs.has("before the question can have been heard") })
	if len(h.did()) != 0 {
		t.Error(h.did())
	}
	h.send("mycroft.stop", nil, in("kitchen", "en-US", "audio"))
	h.next("ovos.utterance.handled", "kitchen")
}

func (h *house) await(done func() bool) {
	h.t.Helper()
	for limit := time.Now().Add(patient); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			h.t.Fatalf("it does not happen\n%s", h.logs.text.String())
		}
	}
}

// calling makes a call as a client of the bus does, by way of the host.
func (h *house) calling(id, session, source, tool, name string) error {
	h.mu.Lock()
	h.about[id] = bus.Message{Type: "ovos.tools.invoke", Context: in(session, "de-DE", source)}
	h.mu.Unlock()
	args, _ := json.Marshal(note{name})
	_, err := h.crib.Call(h.t.Context(), toolcrib.Call{ID: id, Tool: tool, Input: args, Caller: toolcrib.Caller{Subject: "ovos-bus", Frontend: "ovos-bus", Session: session}})
	return err
}

func (h *house) pending(id, session, tool, name string) {
	h.t.Helper()
	began := time.Now()
	err := h.calling(id, session, "engine", tool, name)
	if e, ok := toolcrib.AsError(err); !ok || e.Code != toolcrib.CodeUnavailable || !strings.Contains(e.Message, "asked aloud") {
		h.t.Fatal(err)
	}
	if took := time.Since(began); took > 2*time.Second {
		h.t.Errorf("the caller was told after %v, and has given up", took)
	}
}

func TestACallIsToldAndRepeated(t *testing.T) {
	h := build(t, nil, func(c *voice.Config) { c.Open = nil })
	german := func(words string) {
		h.send(uttered, map[string]any{"utterances": []string{words}}, in("kitchen", "de-DE", "audio"))
	}
	h.pending("c1", "kitchen", "write", "x")
	if q := h.question("kitchen"); !strings.HasPrefix(q, "Darf ich ") || !strings.Contains(q, "ja oder nein") {
		t.Error(q)
	}
	h.pending("c2", "kitchen", "write", "x") // asked already: told again, and asked once
	german("ja bitte")
	_, data := h.next("speak", "kitchen")
	if data["expect_response"] != false {
		t.Fatalf("asked twice: %v", data)
	}
	if len(h.did()) != 0 {
		t.Fatal("it was done though the caller has given up")
	}
	if err := h.calling("c3", "kitchen", "engine", "write", "x"); err != nil { // the answer is for this
		t.Fatal(err)
	}
	h.pending("c4", "kitchen", "write", "x") // and for nothing else
	h.question("kitchen")
	german("nein")
	h.next("speak", "kitchen")
	if err := h.calling("c5", "kitchen", "engine", "write", "x"); toolcrib.CodeOf(err) != toolcrib.CodeDenied {
		t.Error(err)
	}
	h.pending("c6", "kitchen", "write", "y") // another call is another question
	h.question("kitchen")
	german("ja")
	h.next("speak", "kitchen")
	h.pending("c7", "kitchen", "write", "z")
	h.question("kitchen")
	if got := h.did(); !slices.Equal(got, []string{"write x"}) {
		t.Error(got)
	}
}

func TestWhoCallsDoesNotAnswer(t *testing.T) {
	h := build(t, nil, func(c *voice.Config) { c.Open = nil })
	h.pending("c1", "kitchen", "write", "x")
	h.question("kitchen")
	h.send(uttered, map[string]any{"utterances": []string{"ja"}}, in("kitchen", "de-DE", "engine"))
	h.await(func() bool { return h.logs.has("from the program whose call is asked about") })
	if list, err := h.desk.Questions(t.Context(), desk.Filter{State: desk.Open}); err != nil || len(list) != 1 {
		t.Error(list, err)
	}
}

// Who names the session of the agent is no agent: it is told at once, and asked about
// in its own name.
func TestTheSessionOfTheAgentGivesNothing(t *testing.T) {
	hold := make(chan struct{})
	h := build(t, func(ctx context.Context, _ model.Request, _ func(model.Delta)) model.Message {
		select {
		case <-hold:
		case <-ctx.Done():
		}
		return model.Text(model.Assistant, "Here.")
	}, nil)
	h.say("kitchen", "hello")
	h.await(func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.opened == 1
	})
	h.pending("c1", "agent-b", "write", "x")
	h.question("agent-b")
	close(hold)
	h.hears("kitchen", "Here.")
}

func TestWhatASpokenYesMayAllow(t *testing.T) {
	for _, tt := range []struct {
		level      voice.Spoken
		tool, name string
		asked      string // empty: it stays at the desk
	}{
		{voice.Off, "write", "x", ""},
		{voice.Harmless, "write", "x", "Darf ich auf diesem Rechner eine Datei ändern?"},
		{voice.Harmless, "write", "suspicious", ""},
		{voice.Harmless, "wipe", "x", ""},
		{voice.Harmless, "start", "x", ""},
		{voice.All, "wipe", "x", "Darf ich etwas endgültig löschen oder überschreiben?"},
		{voice.All, "start", "x", "Dabei wird das Internet benutzt. Darf ich auf diesem Rechner einen Befehl ausführen?"},
		{voice.All, "write", "suspicious", "Darf ich auf diesem Rechner eine Datei ändern?"},
	} {
		h := build(t, nil, func(c *voice.Config) { c.Open, c.Spoken = nil, tt.level })
		err := h.calling("c1", "kitchen", "engine", tt.tool, tt.name)
		aloud := strings.Contains(err.Error(), "asked aloud")
		if aloud != (tt.asked != "") {
			t.Errorf("%+v: %v", tt, err)
		}
		if !aloud {
			continue
		}
		if q := h.question("kitchen"); !strings.HasPrefix(q, tt.asked) {
			t.Errorf("%+v: %q", tt, q)
		}
	}
}
