package node

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib"
)

// TestHostedFollowsWhatThereIs: what is ours on the bus is what is there now.
func TestHostedFollowsWhatThereIs(t *testing.T) {
	boxes := []string{"files"}
	var h Hosted
	if h.Has("ovos-filesystem-tools", "") {
		t.Error("it does not host yet")
	}
	h.begin("us", func() []string { return boxes }, map[string]bool{"web": true}, nil)
	for range 2 {
		for id, want := range map[string]bool{
			"ovos-filesystem-tools": true, "ovos-math-tools": slices.Contains(boxes, "math"), "files": false,
			"ovos-web-search-tools": false, // it is off here, and may be somebody else's
		} {
			if h.Has(id, "another") != want {
				t.Errorf("%s with %q: %v", id, boxes, !want)
			}
		}
		if h.Has("ovos-web-search-tools", "us") != slices.Contains(boxes, "web") {
			t.Error("what stands in for a box of ours is taken for another's")
		}
		boxes = append(boxes, "math", "web")
	}
	h.end()
	if h.Has("ovos-filesystem-tools", "us") {
		t.Error("it hosts no more")
	}
}

// TestClashOnTheBus: where a toolbox from elsewhere has the id of one of ours,
// ours is on the bus, and that is told; one of ours that is off gives way.
func TestClashOnTheBus(t *testing.T) {
	var h Hosted
	field := map[string]string{"opm-ovos-math-tools": "ovos-math-tools", "opm-ovos-shell-tools": "ovos-shell-tools", "mine": "mine", "mine-2": "mine"}
	names := []string{"math", "opm-ovos-math-tools", "opm-ovos-shell-tools", "mine", "mine-2", "ovosbox"}
	var boxes []toolcrib.Toolbox
	for _, name := range names {
		boxes = append(boxes, toolcrib.NewBox(name))
	}
	if faults := h.clashes(boxes); faults != nil {
		t.Errorf("it does not host, and tells %v", faults)
	}
	h.begin("us", func() []string { return names }, map[string]bool{"shell": true}, func(box string) (string, bool) {
		id, is := field[box]
		return id, is
	})
	var told []string
	for _, f := range h.clashes(boxes) {
		told = append(told, f.Box)
	}
	if !slices.Equal(told, []string{"opm-ovos-math-tools", "mine-2"}) {
		t.Errorf("clashes: %v", told)
	}
	if _, is := h.clash("opm-ovos-shell-tools", append(names, "shell")); is {
		t.Error("one that is off keeps a real one away")
	}
	for _, b := range h.StandIns(toolcrib.Contents{Boxes: boxes}).Boxes {
		if b.Name() == "shell" {
			t.Error("something stands in for the shell though there is a real one")
		}
	}
	if !h.Has("ovos-shell-tools", "another") || h.boxID("math") != "ovos-math-tools" || !h.worded("mine") || h.worded("math") {
		t.Error("what is ours is not known")
	}
}

// TestToolboxSections: what each toolbox is told, and which are off.
func TestToolboxSections(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mycroft.conf")
	read := func(text string) (map[string]json.RawMessage, error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return ToolboxSections([]string{file}, func(string) string { return "" }, "")
	}
	got, err := read(`{"PHAL":{"ovos-phal-plugin-tools":{"enabled":true,"on":{"enabled":true,"a":1},"off":{"enabled":false},"plain":{}}}}`)
	off, named := got["off"]
	if err != nil || string(got["on"]) != `{"a":1,"enabled":true}` || string(got["plain"]) != "{}" || off != nil || !named {
		t.Errorf("sections: %s, %v", got, err)
	}
	if _, err := read(`{"PHAL":{"ovos-phal-plugin-tools":{"enabled":false}}}`); !errors.Is(err, ErrToolsDisabled) {
		t.Errorf("the plugin is off: %v", err)
	}
	if _, err := read(`{"PHAL":{"ovos-phal-plugin-tools":{"x":{"enabled":"no"}}}}`); err == nil {
		t.Error("a word is taken for a switch")
	}
}
