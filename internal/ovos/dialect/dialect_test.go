package dialect

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// The contracts must go out byte for byte as genuine hosts send them: readers
// compare and cache them.
func TestContractsAreTheRecordedOnes(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/golden/ovos_tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var want []json.RawMessage
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	ours := map[string]json.RawMessage{}
	for _, a := range Adapters(Options{}) {
		if a.Dialect == OVOS {
			ours[a.Name] = mustJSON(Contract(OVOS, entry(a)))
		}
	}
	if len(ours) != len(want) {
		t.Errorf("%d contracts, want %d", len(ours), len(want))
	}
	for _, w := range want {
		var head struct{ Name string }
		if err := json.Unmarshal(w, &head); err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, w); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(compact.String(), string(ours[head.Name])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", head.Name, diff)
		}
	}
}

func TestAdaptersFitACatalog(t *testing.T) {
	var boxes []toolcrib.Toolbox
	byBox := map[string][]toolcrib.Tool{}
	seen := map[string]bool{}
	for _, a := range Adapters(Options{}) {
		if seen[a.Box+"/"+a.Native] {
			continue // of another dialect too
		}
		seen[a.Box+"/"+a.Native] = true
		byBox[a.Box] = append(byBox[a.Box], toolcrib.Tool{
			Spec: toolcrib.Spec{Name: a.Native},
			Run:  func(context.Context, *toolcrib.Env, json.RawMessage) (*toolcrib.Result, error) { return nil, nil },
		})
	}
	for box, tools := range byBox {
		boxes = append(boxes, toolcrib.NewBox(box, tools...))
	}
	c := toolcrib.Crib{Catalog: &toolcrib.Catalog{}}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: boxes, Adapters: Adapters(Options{})}); faults != nil {
		t.Fatal(faults)
	}
	for _, a := range Adapters(Options{}) {
		spec, ok := c.Tool(toolcrib.Caller{Dialect: a.Dialect}, a.Name)
		if !ok || spec.Native != a.Native || spec.Dialect != a.Dialect {
			t.Errorf("%s/%s: %+v", a.Dialect, a.Name, spec)
		}
	}
}

func TestProjectAnswersInBand(t *testing.T) {
	tool := ovosTools(Options{})[1]
	for _, tt := range []struct {
		name string
		in   *toolcrib.Result
		want string
	}{
		{"done", &toolcrib.Result{Value: json.RawMessage(`{"result":4,"expression":"2+2"}`)}, `{"result":4,"expression":"2+2","error":null}`},
		{"failed", &toolcrib.Result{Failed: true, Value: json.RawMessage(`{"result":null,"expression":"1/0","error":"float division by zero"}`)}, `{"result":null,"expression":"1/0","error":"float division by zero"}`},
		{"more than asked", &toolcrib.Result{Value: json.RawMessage(`{"result":null,"special":"inf","expression":"inf"}`)}, `{"result":null,"expression":"inf","error":null}`},
	} {
		got, err := tool.project(nil, tt.in)
		if err != nil || string(got.Value) != tt.want || got.Failed {
			t.Errorf("%s: %+v, %v", tt.name, got, err)
		}
	}
	if _, err := tool.project(nil, toolcrib.Failed("it broke")); err == nil || err.Error() != "it broke" {
		t.Errorf("a failure without a value: %v", err)
	}
}

func TestEveryCodeHasWords(t *testing.T) {
	for _, d := range []string{"", OVOS, AgenticX, OWL} {
		for _, code := range cribtest.Codes() {
			e := &toolcrib.Error{Code: code, Tool: "x", Message: "because"}
			if text := ErrorText(d, e, "math"); !strings.HasSuffix(text, "because") {
				t.Errorf("%s/%s: %q", d, code, text)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, name := range Names() {
		d, err := Parse(name)
		if err != nil || (name == Native) != (d == "") || Lenient(d) != (d == OVOS || d == AgenticX) {
			t.Errorf("%s: %q, %v", name, d, err)
		}
	}
	if _, err := Parse("klingon"); err == nil || !strings.Contains(err.Error(), "agenticx") {
		t.Errorf("unknown: %v", err)
	}
}

// entry is an adapter as the catalog shows it.
func entry(a toolcrib.Adapter) toolcrib.Entry {
	return toolcrib.Entry{Spec: a.Spec, Dialect: a.Dialect, Box: a.Box, Native: a.Native}
}
