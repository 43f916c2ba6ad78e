package artifact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

func cutterOf(s *Store) *Cutter { return &Cutter{Size: 10_000, Keep: s.Put, Reader: "read_artifact"} }

func vet(t testing.TB, c *Cutter, call toolcrib.Call, r *toolcrib.Result) *toolcrib.Result {
	t.Helper()
	out, err := c.Vet(t.Context(), toolcrib.Review{Call: call}, r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// marks finds the artifacts that a result names, with their offsets.
func marks(text string) [][]string {
	return regexp.MustCompile(`read_artifact \{\\?"id\\?":\\?"([a-z2-7]{26})\\?"(?:,\\?"offset\\?":(\d+))?\}`).FindAllStringSubmatch(text, -1)
}

func TestCutText(t *testing.T) {
	s := openStore(t, Config{})
	text := strings.Repeat("one line of it\n", 10_000)
	given := toolcrib.Text(text)
	got := vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, given)
	out := got.String()
	if len(out) > 10_000 || len(out) < 9_000 || given.String() != text {
		t.Fatalf("%d bytes, and the given has %d", len(out), len(given.String()))
	}
	m := marks(out)
	if len(m) != 1 {
		t.Fatalf("no artifact is named: %v", m)
	}
	var offset int
	if _, err := fmt.Sscan(m[0][2], &offset); err != nil {
		t.Fatal(err)
	}
	part, total, err := s.Read(ann(), m[0][1], 0, len(text))
	if err != nil || string(part) != text || total != int64(len(text)) {
		t.Errorf("the artifact has %d of %d bytes, %v", len(part), total, err)
	}
	if !strings.HasPrefix(out, text[:offset]) || strings.HasPrefix(out, text[:offset+1]) {
		t.Error("the part that is missing does not begin where it says")
	}
}

func TestCutLeavesAlone(t *testing.T) {
	long := toolcrib.Text(strings.Repeat("x", 20_000))
	c := &Cutter{Size: 10_000, Keep: func(toolcrib.Caller, []byte) (string, error) {
		t.Error("something was kept")
		return "", nil
	}, Whole: func(c toolcrib.Call) bool { return c.Caller.Frontend == "cli" }}
	for name, given := range map[string]struct {
		call   toolcrib.Call
		result *toolcrib.Result
	}{
		"short":        {toolcrib.Call{}, toolcrib.Text(strings.Repeat("x", 10_000))},
		"short value":  {toolcrib.Call{}, &toolcrib.Result{Value: json.RawMessage(`{"a": 1}`)}},
		"picture":      {toolcrib.Call{}, &toolcrib.Result{Content: []toolcrib.Content{{Type: "image", Data: make([]byte, 50_000), MIME: "image/png"}}}},
		"for programs": {toolcrib.Call{Caller: toolcrib.Caller{Frontend: "cli"}}, long},
		"for a tool":   {toolcrib.Call{Parent: "p"}, long},
	} {
		if got := vet(t, c, given.call, given.result); got != given.result {
			t.Errorf("%s: it was changed", name)
		}
	}
}

func TestCutContents(t *testing.T) {
	s := openStore(t, Config{})
	picture := toolcrib.Content{Type: "image", Data: []byte{1}, MIME: "image/png"}
	given := &toolcrib.Result{Failed: true, Content: []toolcrib.Content{
		{Type: "text", Text: "short"}, {Type: "text", Text: strings.Repeat("a", 50_000)}, picture,
		{Type: "resource", URI: "file:///x", Text: strings.Repeat("b", 50_000)},
	}}
	got := vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, given)
	if len(got.Content) != 4 || got.Content[0].Text != "short" || cmp.Diff(picture, got.Content[2]) != "" || got.Content[3].URI != "file:///x" || !got.Failed {
		t.Errorf("%+v", got)
	}
	if a, b := len(got.Content[1].Text), len(got.Content[3].Text); a+b > 10_000 || a < 4_500 || b < 4_500 {
		t.Errorf("%d and %d bytes", a, b)
	}
	if n := len(marks(got.String() + got.Content[3].Text)); n != 2 {
		t.Errorf("%d artifacts", n)
	}
	many := &toolcrib.Result{Content: []toolcrib.Content{picture}}
	for i := range 5_000 {
		many.Content = append(many.Content, toolcrib.Content{Type: "text", Text: fmt.Sprintf("piece %d", i)})
	}
	got = vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, many)
	if m := marks(got.String()); len(got.Content) != 2 || len(got.String()) > 10_000 || len(m) != 1 || got.Content[1].Type != "image" {
		t.Errorf("%d contents, %d bytes, %d artifacts", len(got.Content), len(got.String()), len(m))
	}
}

func TestCutValue(t *testing.T) {
	s := openStore(t, Config{})
	text := strings.Repeat("a line <b>&\n", 10_000)
	value, err := json.Marshal(map[string]any{"path": "a.txt", "text": text, "lines": 1e4})
	if err != nil {
		t.Fatal(err)
	}
	got := vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, &toolcrib.Result{Value: value})
	var out struct {
		Path, Text string
		Lines      float64
	}
	if err := json.Unmarshal(got.Value, &out); err != nil || out.Path != "a.txt" || out.Lines != 1e4 || len(got.Value) > 10_000 || len(got.Content) != 0 {
		t.Fatalf("%v: %.300s", err, got.Value)
	}
	m := marks(out.Text)
	if len(m) != 1 {
		t.Fatalf("%d artifacts", len(m))
	}
	// The artifact of a string is the string, not its JSON.
	if part, _, err := s.Read(ann(), m[0][1], 0, len(text)); err != nil || string(part) != text {
		t.Errorf("%.100q, %v", part, err)
	}

	list, err := json.Marshal(map[string]any{"hits": strings.Split(strings.Repeat("a file name,", 10_000), ",")})
	if err != nil {
		t.Fatal(err)
	}
	got = vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, &toolcrib.Result{Value: list})
	if len(got.Content) != 2 || got.Content[0].Text != string(got.Value) || !json.Valid(got.Value) || len(got.Value) > 10_000 {
		t.Fatalf("%d contents, value %d", len(got.Content), len(got.Value))
	}
	if m = marks(got.Content[1].Text); len(m) != 1 || strings.Contains(got.Content[1].Text, "\n") {
		t.Fatalf("no line says where the rest is: %s", got.Content[1].Text)
	}
	var all map[string][]string
	if part, _, err := s.Read(ann(), m[0][1], 0, 1<<20); err != nil || json.Unmarshal(part, &all) != nil || len(all["hits"]) != 10_001 {
		t.Errorf("%d hits in the artifact, %v", len(all["hits"]), err)
	}

	blank := vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, &toolcrib.Result{Value: json.RawMessage("{" + strings.Repeat(" ", 20_000) + `"a":1}`)})
	if string(blank.Value) != `{"a":1}` || blank.Content != nil {
		t.Errorf("%s", blank.Value)
	}
	broken := vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, &toolcrib.Result{Value: json.RawMessage(strings.Repeat("{", 20_000))})
	if broken.Value != nil || len(broken.Content) != 1 {
		t.Errorf("%.100s", broken.Value)
	}
}

// TestCutWithoutRoom: a full disk costs the rest of a result, not the result.
func TestCutWithoutRoom(t *testing.T) {
	tiny := openStore(t, Config{PerCaller: 100, Total: 100})
	for name, keep := range map[string]func(toolcrib.Caller, []byte) (string, error){
		"bound":    tiny.Put,
		"disk":     func(toolcrib.Caller, []byte) (string, error) { return "", errors.New("no space left") },
		"no store": nil,
	} {
		c := &Cutter{Size: 10_000, Keep: keep, Reader: "read_artifact"}
		out := vet(t, c, toolcrib.Call{}, toolcrib.Text(strings.Repeat("x", 50_000))).String()
		if len(out) > 10_000 || !strings.Contains(out, "bytes left out; they are not kept") || strings.Contains(out, "read_artifact") {
			t.Errorf("%s: %d bytes", name, len(out))
		}
	}
}

func TestCutMakesFewArtifacts(t *testing.T) {
	kept := 0
	c := &Cutter{Size: 50_000, Reader: "read_artifact", Keep: func(toolcrib.Caller, []byte) (string, error) {
		kept++
		return newID(), nil
	}}
	value, err := json.Marshal(strings.Split(strings.Repeat(strings.Repeat("x", 2_000)+",", 60), ","))
	if err != nil {
		t.Fatal(err)
	}
	vet(t, c, toolcrib.Call{}, &toolcrib.Result{Value: value})
	if kept < 1 || kept > maxPieces {
		t.Errorf("one result made %d artifacts", kept)
	}
}

// TestCutInACrib: through the whole pipeline, the result of a tool with a
// contract is cut, recorded as such and given.
func TestCutInACrib(t *testing.T) {
	s := openStore(t, Config{})
	type out struct {
		Text string `json:"text"`
	}
	tool := toolcrib.Define(toolcrib.Spec{Name: "talk", Effects: toolcrib.Pure}, func(context.Context, *toolcrib.Env, struct{}) (out, error) {
		return out{strings.Repeat("talk\n", 100_000)}, nil
	})
	c := &toolcrib.Crib{
		Catalog: &toolcrib.Catalog{}, Journal: toolcrib.NoJournal{}, Guards: []toolcrib.Guard{cribtest.Allow()},
		Vetters: []toolcrib.Vetter{cutterOf(s)},
	}
	if _, faults := c.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{toolcrib.NewBox("box", tool)}}); faults != nil {
		t.Fatal(faults)
	}
	r, err := c.Call(t.Context(), toolcrib.Call{Tool: "talk", Caller: ann()})
	if err != nil || len(r.Value) > 10_000 || len(marks(string(r.Value))) != 1 {
		t.Errorf("%.200s, %v", r, err)
	}
}

func BenchmarkVetMegabyte(b *testing.B) {
	s := openStore(b, Config{})
	value, err := json.Marshal(map[string]string{"text": strings.Repeat("a line of text\n", 1<<16)})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(value)))
	for b.Loop() {
		vet(b, &Cutter{Keep: s.Put, Reader: "read_artifact"}, toolcrib.Call{Caller: ann()}, &toolcrib.Result{Value: value})
	}
}

// TestCutData: what is encoded is there whole or not at all.
func TestCutData(t *testing.T) {
	s := openStore(t, Config{})
	data := make([]byte, 60_000)
	for i := range data {
		data[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[(i*31+i/64*17)%64]
	}
	picture := string(data)
	for name, text := range map[string]string{
		"alone": picture, "in the middle": "before " + picture + " behind", "at the end": strings.Repeat("words of it ", 700) + picture, "at the beginning": picture + strings.Repeat(" words of it", 700),
	} {
		for _, given := range []*toolcrib.Result{toolcrib.Text(text), {Value: json.RawMessage(`{"data":"` + text + `","mimeType":"image/png"}`)}} {
			got := vet(t, cutterOf(s), toolcrib.Call{Caller: ann()}, given)
			out := got.String()
			if given.Value != nil {
				out = string(got.Value)
			}
			if strings.Contains(out, picture[100:160]) || strings.Contains(out, picture[len(picture)-160:len(picture)-100]) || !strings.Contains(out, "left out") {
				t.Errorf("%s: a part of the picture is left: %.300s", name, out)
			}
			if name == "in the middle" && (!strings.Contains(out, "before ") || !strings.Contains(out, " behind")) {
				t.Errorf("%s: %.300s", name, out)
			}
		}
	}
}
