package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/model"
	"github.com/toolcrib/toolcrib/toolbox/clock"
	filebox "github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/math"
)

// updateEngines has TestGenuineOVOSEngines write down what the engines did.
var updateEngines = flag.Bool("update-engines", false, "write down what the genuine engines of OpenVoiceOS did")

// engines are the genuine engines and the loops of ours that are held against them.
func engines() map[string]string {
	return map[string]string{agent.ReAct: "ovos-react-loop", agent.Native: "ovos-native-toolcall-loop"}
}

// script is a file of testdata/engines: dialogues, and the files that each begins with.
type script struct {
	Files     map[string]string `json:"files"`
	Dialogues []dialogue        `json:"dialogues"`
}

type dialogue struct {
	Name          string            `json:"name"`
	User          string            `json:"user"`
	Turns         []json.RawMessage `json:"turns"` // what the model says
	MaxIterations int               `json:"max_iterations,omitempty"`
	// Differs is set where the genuine engine shows the person what ours mends.
	Differs *struct {
		Why    string     `json:"why"`
		Calls  []madeCall `json:"calls"`
		Answer string     `json:"answer"`
	} `json:"differs,omitempty"`
}

// held is what became of a dialogue.
type held struct {
	Calls  []madeCall `json:"calls"`
	Answer string     `json:"answer"`
	Turns  int        `json:"turns"` // how often the model was asked
}

// madeCall is a call of the model's: the tool, the arguments, and what it answered; null:
// it was not called, or it raised.
type madeCall [3]any

func readScript(t testing.TB, loop string) (s script, text []byte) {
	t.Helper()
	text, err := os.ReadFile("testdata/engines/" + loop + ".json")
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Dialogues) < 30 {
		t.Fatalf("there are %d dialogues", len(s.Dialogues))
	}
	return s, text
}

// scriptModel says the turns of a dialogue.
type scriptModel struct {
	turns []json.RawMessage
	asked int
	tools bool
}

func (m *scriptModel) Traits() model.Traits {
	return model.Traits{Name: "script", Format: "openai", Tools: m.tools}
}

func (m *scriptModel) Ask(_ context.Context, _ model.Request, _ func(model.Delta)) (*model.Answer, error) {
	if m.asked == len(m.turns) {
		return nil, errors.New("the script has no further turn")
	}
	turn := m.turns[m.asked]
	m.asked++
	var text string
	if json.Unmarshal(turn, &text) == nil {
		return &model.Answer{Message: model.Text(model.Assistant, text), Stop: model.StopEnd}, nil
	}
	var calls struct {
		Text  string
		Calls []model.ToolCall
	}
	if err := json.Unmarshal(turn, &calls); err != nil {
		return nil, err
	}
	answer := &model.Answer{Message: model.Text(model.Assistant, calls.Text), Stop: model.StopCalls}
	answer.Message.Calls = calls.Calls
	return answer, nil
}

// engineCrib has the toolboxes of OpenVoiceOS that the dialogues use, over a directory.
func engineCrib(t testing.TB, dir string) *toolcrib.Crib {
	t.Helper()
	fileBox, err := filebox.Open(t.Context(), filebox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	clockBox, err := clock.Open(t.Context(), clock.Config{})
	if err != nil {
		t.Fatal(err)
	}
	mathBox, err := math.Open(t.Context(), math.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{cribtest.Allow()}, Journal: toolcrib.NoJournal{},
		Grant: toolcrib.Grant{Dirs: []files.Dir{{Path: dir, Write: true}}}, Log: slog.New(slog.DiscardHandler),
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{
		Boxes: []toolcrib.Toolbox{clockBox, mathBox, fileBox}, Adapters: dialect.Adapters(dialect.Options{Root: dir}),
	}); faults != nil {
		t.Fatal(faults)
	}
	return c
}

// ours holds a dialogue with our loop.
func (d dialogue) ours(t testing.TB, loop, dir string, begin map[string]string) held {
	t.Helper()
	for name, text := range begin {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	brain := &scriptModel{turns: d.Turns, tools: loop == agent.Native}
	a := agent.Agent{Crib: engineCrib(t, dir), Model: brain, Caller: toolcrib.Caller{Subject: "ann", Dialect: dialect.OVOS}, MaxIterations: 10, Lenient: dialect.Lenient(dialect.OVOS)}
	if d.MaxIterations != 0 {
		a.MaxIterations = d.MaxIterations
	}
	answers := map[string]any{} // by the ID of the call
	conversation := &agent.Conversation{}
	out, err := a.Run(t.Context(), conversation, model.Text(model.User, d.User), func(e agent.Event) {
		if e.Kind != agent.CallResult || e.Error != nil || e.Result == nil || e.Result.Value == nil {
			return
		}
		var value any
		if err := json.Unmarshal(e.Result.Value, &value); err != nil {
			t.Error(err)
		}
		answers[e.Call.ID] = value
	})
	if err != nil {
		t.Errorf("%s: %v", d.Name, err)
	}
	told := held{Calls: []madeCall{}, Answer: out.Text, Turns: brain.asked}
	for _, m := range conversation.Messages {
		for _, call := range m.Calls {
			var args any
			if err := json.Unmarshal(call.Arguments, &args); err != nil {
				t.Error(err)
			}
			told.Calls = append(told.Calls, madeCall{call.Name, args, answers[call.ID]})
		}
	}
	return told.placed(dir)
}

// said is the calls without what came of them.
func (h held) said() []madeCall {
	out := []madeCall{}
	for _, c := range h.Calls {
		out = append(out, madeCall{c[0], c[1], nil})
	}
	return out
}

// placed takes out what is different each time: the directory, and the time.
func (h held) placed(dir string) held {
	text, err := json.Marshal(h)
	if err != nil {
		panic(err) // it was made of JSON
	}
	var out held
	if err := json.Unmarshal(bytes.ReplaceAll(text, []byte(dir), []byte("$DIR")), &out); err != nil {
		panic(err)
	}
	for i := range out.Calls {
		now, ok := out.Calls[i][2].(map[string]any)
		if !ok {
			continue
		}
		for key := range now {
			if out.Calls[i][0] == "get_current_datetime" || out.Calls[i][0] == "solve_equation" && key == "method" {
				now[key] = "" // a solution that is found otherwise is the same solution
			}
		}
	}
	return out
}

// compareLoops holds our dialogues against what the genuine engine did.
func compareLoops(t *testing.T, loop string, s script, genuine []held) {
	t.Helper()
	same, differ := 0, 0
	for i, d := range s.Dialogues {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		got, want := d.ours(t, loop, dir, s.Files), genuine[i]
		if d.Differs == nil {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s (-genuine +ours):\n%s", loop, d.Name, diff)
			}
			same++
			continue
		}
		differ++
		if got.Answer == want.Answer && cmp.Equal(got.Calls, want.Calls) {
			t.Errorf("%s, %s: the genuine engine does the same, so it differs no more", loop, d.Name)
		}
		if diff := cmp.Diff(held{d.Differs.Calls, d.Differs.Answer, 0}, held{got.said(), got.Answer, 0}); diff != "" {
			t.Errorf("%s, %s, where %s (-expected +ours):\n%s", loop, d.Name, d.Differs.Why, diff)
		}
	}
	t.Logf("%s: %d dialogues are the same, %d differ as they should", loop, same, differ)
}

func recordedEngines(t testing.TB) map[string][]held {
	t.Helper()
	recorded := map[string][]held{}
	text, err := os.ReadFile("testdata/engines/genuine.json")
	if err == nil {
		err = json.Unmarshal(text, &recorded)
	}
	if err != nil {
		t.Fatal(err)
	}
	return recorded
}

// TestRecordedEngines: our loops make the calls and give the answers that the engines of
// OpenVoiceOS were recorded with. See testdata/engines/README.md.
func TestRecordedEngines(t *testing.T) {
	recorded := recordedEngines(t)
	for loop := range engines() {
		s, _ := readScript(t, loop)
		if len(recorded[loop]) != len(s.Dialogues) {
			t.Fatalf("%s: %d dialogues, and %d are recorded", loop, len(s.Dialogues), len(recorded[loop]))
		}
		compareLoops(t, loop, s, recorded[loop])
	}
}

// TestGenuineOVOSEngines holds the same dialogues with the genuine engines.
func TestGenuineOVOSEngines(t *testing.T) {
	e := genuine(t).base
	program, err := filepath.Abs("testdata/engines/genuine.py")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]held{}
	for loop, name := range engines() {
		s, text := readScript(t, loop)
		top, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), e.python, program, name, top)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		cmd.Stdin = bytes.NewReader(text)
		errs := &logged{}
		cmd.Stderr = errs
		out, err := cmd.Output()
		var told []held
		if err == nil {
			err = json.Unmarshal(out, &told)
		}
		if err != nil || len(told) != len(s.Dialogues) {
			t.Fatalf("%s: %v\n%s", name, err, errs)
		}
		for i := range told {
			told[i] = told[i].placed(filepath.Join(top, strconv.Itoa(i)))
		}
		compareLoops(t, loop, s, told)
		all[loop] = told
	}
	if *updateEngines {
		text, err := json.MarshalIndent(all, "", " ")
		if err == nil {
			err = os.WriteFile("testdata/engines/genuine.json", append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded := recordedEngines(t)
	for loop := range all {
		if diff := cmp.Diff(recorded[loop], all[loop]); diff != "" {
			t.Errorf("%s does other things than it was recorded with (-recorded +now):\n%s", loop, diff)
		}
	}
}
