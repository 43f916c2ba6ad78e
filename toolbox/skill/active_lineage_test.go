package skill

import (
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestDelegatesFollowTheLeadsSkills: who is put to work does not get around what the
// skills of the other one leave it.
func TestDelegatesFollowTheLeadsSkills(t *testing.T) {
	b := &Box{}
	lead := toolcrib.Caller{Subject: "ann", Agent: "lead", Session: "s"}
	b.active.of = map[session][]inUse{sessionOf(lead): {{Skill: Skill{Name: "careful"}, followed: true}}}
	for _, tt := range []struct {
		caller toolcrib.Caller
		want   int
	}{
		{lead, 1},
		{toolcrib.Caller{Subject: "ann", Agent: "lead/helper", Session: "s/dlg-1"}, 1},
		{toolcrib.Caller{Subject: "bob", Agent: "lead/helper", Session: "s/dlg-1"}, 0},
		{toolcrib.Caller{Subject: "ann", Agent: "lead", Session: "t"}, 0},
	} {
		if got := b.Active(tt.caller); len(got) != tt.want {
			t.Errorf("%+v follows %v", tt.caller, got)
		}
	}
}
