package agent

import (
	"testing"

	"github.com/toolcrib/toolcrib/model"
)

func TestNative(t *testing.T) {
	w := newWorkshop(t)
	m := script(calls("calculate", `{"expression":"6*7"}`), says("It is 42, I think. "))
	a := &Agent{Crib: w.Crib, Model: m, Instructions: "Be brief."}
	var c Conversation
	var ev events
	out, err := a.Run(t.Context(), &c, model.Text(model.User, "6*7?"), ev.add)
	if err != nil || out.Stopped != StoppedAnswer || out.Calls != 1 || out.Iterations != 2 || out.Usage.Input != 20 {
		t.Fatalf("%+v, %v", out, err)
	}
	checkWhole(t, &c)
	t.Log(ev.kinds(), out, lastResult(&c))
	for e := range w.Tools(a.Caller) {
		t.Log(e.Name, e.Effects)
	}
}
