package safety

import (
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
)

// TestDelegatesBringNoBudget: what a delegate uses is used of the budgets of both, and of
// that of the session it works in.
func TestDelegatesBringNoBudget(t *testing.T) {
	spec := toolcrib.Entry{Spec: toolcrib.Spec{Name: "look"}, Box: "b", Native: "look"}
	lead := toolcrib.Caller{Subject: "ann", Agent: "lead", Session: "s"}
	helper := toolcrib.Caller{Subject: "ann", Agent: "lead/helper", Session: "s/dlg-1"}
	second := toolcrib.Caller{Subject: "ann", Agent: "lead/helper", Session: "s/dlg-2"}
	for name, limit := range map[string]BudgetLimit{
		"of the lead":     {Agent: "lead", Calls: 2},
		"of the helper":   {Agent: "helper", Calls: 2},
		"of each agent":   {Each: []string{"agent"}, Calls: 2},
		"of each session": {Each: []string{"session"}, Calls: 2},
		"of the session":  {Session: "s", Calls: 2},
	} {
		limit.Per = time.Hour
		b, err := NewBudget([]BudgetLimit{limit}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []toolcrib.Caller{helper, second} {
			if _, err := b.reserve(&c, &spec, budgetUse{}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		if _, err := b.reserve(&helper, &spec, budgetUse{}); err == nil {
			t.Errorf("%s: a third call", name)
		}
		if v, err := b.Judge(t.Context(), toolcrib.Review{Call: toolcrib.Call{Caller: second}, Spec: spec}); err != nil || v == nil {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		_, err = b.reserve(&lead, &spec, budgetUse{})
		if used := name != "of the helper"; (err != nil) != used {
			t.Errorf("%s: the lead has it left: %v", name, err)
		}
	}
}

// TestDelegatesHandOnWhatTheyRead: the labels of a session and of those that work in it
// are the same, and nobody else's.
func TestDelegatesHandOnWhatTheyRead(t *testing.T) {
	at := func(subject, agent, session string) flowKey {
		return keyOf(toolcrib.Caller{Subject: subject, Agent: agent, Session: session})
	}
	if at("ann", "lead", "s") != at("ann", "lead/helper", "s/dlg-1") {
		t.Error("a delegate reads for itself")
	}
	if at("ann", "lead", "s") == at("bob", "lead/helper", "s/dlg-1") || at("ann", "lead", "s") == at("ann", "lead", "t/dlg-1") {
		t.Error("others read for it")
	}
}
