package bundles

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/toolcrib/toolcrib/internal/bundle"
)

// TestServersOf: what is kept of a server goes with the last package that brings it.
func TestServersOf(t *testing.T) {
	with := func(names ...string) (i Installed) {
		for _, n := range names {
			i.Package.Servers = append(i.Package.Servers, bundle.Server{Name: n})
		}
		return i
	}
	b := &Bundles{State: t.TempDir()}
	if err := os.MkdirAll(filepath.Dir(b.recordFile()), 0o700); err != nil {
		t.Fatal(err)
	}
	kit := with("say", "kit")
	kit.Before = []Installed{with("old")}
	if err := b.write(&record{Bundles: map[string]Installed{"kit": kit, "other": with("x")}, Projects: map[string]map[string]Installed{"/p": {"kit": with("kit")}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.ServersOf("kit", false); err != nil || !slices.Equal(got, []string{"kit-old", "kit-say"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, name := range []string{"none", "../.."} {
		if got, err := b.ServersOf(name, false); err == nil {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestDefaultsAtHome: where nobody gives a directory, ~ is the person's home, and nothing else is read from the machine.
func TestDefaultsAtHome(t *testing.T) {
	s := bundle.Server{Command: "x", Args: []string{"${ask:one}", "${ask:many}", "${ask:plain}", "${ask:given}"}}
	asks := []bundle.Ask{{Name: "one", Default: "~/Documents"}, {Name: "many", Default: "~,/y,~x", Many: true}, {Name: "plain", Default: "a~/${HOME}"}, {Name: "given", Default: "~"}}
	got, err := expand(s, places{home: "/home/ann"}, asks, map[string]string{"given": "~/as-it-is"}, "kit")
	if want := []string{"/home/ann/Documents", "/home/ann", "/y", "~x", "a~/$${HOME}", "~/as-it-is"}; err != nil || !slices.Equal(got.Args, want) {
		t.Errorf("%q, %v", got.Args, err)
	}
}
