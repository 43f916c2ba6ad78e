package app

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/node"
	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/internal/vault/keeper"
	"github.com/toolcrib/toolcrib/internal/vault/vaulttest"
	"github.com/toolcrib/toolcrib/ovos"
)

const busPatience = 30 * time.Second

// openBusApp opens a whole program.
func openBusApp(t testing.TB, cfg settings.Config, needs Needs) *App {
	t.Helper()
	if needs.State == "" {
		needs.State = t.TempDir()
	}
	needs.Dir, needs.Home, needs.Log = t.TempDir(), t.TempDir(), slog.New(slog.DiscardHandler)
	a, err := Open(t.Context(), cfg, needs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// hostBus has a program serve until the test ends.
func hostBus(t testing.TB, a *App, cfg settings.Config) (url string) {
	t.Helper()
	return whileServing(t, func(ctx context.Context, started func(string)) error {
		return a.ServeBus(ctx, cfg, cfg.Bus, "", started)
	})
}

func whileServing(t testing.TB, serve func(context.Context, func(string)) error) (url string) {
	t.Helper()
	started := make(chan string, 1)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, func(url string) { started <- url }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	select {
	case url = <-started:
	case <-time.After(busPatience):
		t.Fatal("it does not start")
	}
	return url
}

// join connects a client and waits until a toolbox is there.
func join(t *testing.T, cfg ovos.ClientConfig, toolbox string) *ovos.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), busPatience)
	defer cancel()
	c, err := ovos.Dial(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := c.Toolbox(ctx, toolbox); err != nil {
		t.Fatal(err)
	}
	return c
}

func ownBus() settings.Config {
	cfg := settings.Defaults()
	cfg.Bus.Serve, cfg.Bus.Listen = true, "127.0.0.1:0"
	return cfg
}

func TestServeBus(t *testing.T) {
	cfg := ownBus()
	cfg.Bus.Subject, cfg.Bus.Agent = "the kitchen", "voice"
	cfg.Agents = map[string]settings.Agent{"voice": {Profile: "minimal"}}
	a := openBusApp(t, cfg, Needs{})
	journal := &cribtest.Memory{}
	a.Crib.Journal = journal
	c := join(t, ovos.ClientConfig{URL: hostBus(t, a, cfg)}, "ovos-math-tools")
	result, err := c.Call(t.Context(), "ovos-math-tools", "evaluate_expression", map[string]any{"expression": "6*7"})
	if err != nil || string(result) != `{"result":42,"expression":"6*7","error":null}` {
		t.Errorf("6*7 gave %s, %v", result, err)
	}
	// The preset of the bus holds: tools that it has not do not exist there.
	files, err := c.Toolbox(t.Context(), "ovos-filesystem-tools")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range files.Tools {
		if tool.Name == "write_file" {
			t.Error("write_file is shown to a caller with the profile minimal")
		}
	}
	_, err = c.Call(t.Context(), "ovos-filesystem-tools", "write_file", map[string]any{"path": "x", "content": "y"})
	if e, ok := errors.AsType[*ovos.CallError](err); !ok || !strings.Contains(e.Message, "Unknown tool") {
		t.Errorf("write_file was answered with %v", err)
	}
	for _, r := range journal.Records() {
		if c := r.Caller; c.Subject != "the kitchen" || c.Agent != "voice" || c.Frontend != "ovos-bus" {
			t.Errorf("recorded as made by %+v", c)
		}
	}
	if len(journal.Records()) != 2 {
		t.Errorf("%d calls were recorded, want 2", len(journal.Records()))
	}
}

func TestServeBusRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*settings.Bus)
		want   string
	}{
		"an agent that nobody knows": {func(b *settings.Bus) { b.Agent = "nobody" }, "bus.agent"},
		"all interfaces":             {func(b *settings.Bus) { b.Listen = "0.0.0.0:0" }, "allowed explicitly"},
		"remote without a token":     {func(b *settings.Bus) { b.Listen, b.Remote = "0.0.0.0:0", true }, "token"},
		"a token that is not there":  {func(b *settings.Bus) { b.Token = "${secret:bus}" }, "bus.token"},
		"a secret that is not there": {func(b *settings.Bus) { b.Approvals.Secret = "${secret:bus}" }, "bus.approvals.secret"},
		"a secret that is short":     {func(b *settings.Bus) { b.Approvals.Secret = "short" }, "secret"},
		"a certificate without file": {func(b *settings.Bus) { b.TLS.Cert, b.TLS.Key = "/nowhere", "/nowhere" }, "bus.tls"},
		"an authority without file":  {func(b *settings.Bus) { b.TLS.CA = "/nowhere" }, "bus.tls.ca"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := ownBus()
			c.change(&cfg.Bus)
			a := openBusApp(t, cfg, Needs{Keys: keeper.Source{Env: vaulttest.Env(t)}})
			err := a.ServeBus(t.Context(), cfg, cfg.Bus, "", nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it gave %v, want something about %s", err, c.want)
			}
		})
	}
}

// TestBusTokenFromTheVault: the settings name the token, the vault has it.
func TestBusTokenFromTheVault(t *testing.T) {
	keys, state := keeper.Source{Env: vaulttest.Env(t)}, t.TempDir()
	vaulttest.Fill(t, keeper.Dir(state), keys.Env, map[vault.Ref]string{{Name: "bus"}: "a token of some length"})
	cfg := ownBus()
	cfg.Bus.Token = "${secret:bus}"
	a := openBusApp(t, cfg, Needs{State: state, Keys: keys})
	url := hostBus(t, a, cfg)
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := ovos.Dial(short, ovos.ClientConfig{URL: url, Token: cfg.Bus.Token}); !errors.Is(err, ovos.ErrNoBus) {
		t.Errorf("with the reference for a token: %v", err)
	}
	bus := cfg.Bus
	bus.URL = url
	access, err := BusClient(t.Context(), cfg, bus, Needs{State: state, Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	join(t, ovos.ClientConfig{URL: access.URL, Token: access.Token}, "ovos-math-tools")
}

// plainBus is a bus that nobody hosts on yet.
func plainBus(t testing.TB) (url string) {
	t.Helper()
	server, err := bus.NewServer(bus.ServerConfig{Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	ln, err := server.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "ws://" + ln.Addr().String() + bus.DefaultPath
}

// parrot hosts a toolbox of somebody else's program.
func parrot(t *testing.T, url string) {
	t.Helper()
	type text struct {
		Text string `json:"text"`
	}
	echo := toolcrib.Define(toolcrib.Spec{Name: "echo", Description: "Says it again.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in text) (text, error) { return in, nil })
	serveBox(t, url, toolcrib.NewBox("parrot", echo))
	join(t, ovos.ClientConfig{URL: url}, "parrot")
}

// serveBox puts a toolbox on a bus that is there.
func serveBox(t testing.TB, url string, box toolcrib.Toolbox) {
	t.Helper()
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Journal: toolcrib.NoJournal{}}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: []toolcrib.Toolbox{box}}); faults != nil {
		t.Fatal(faults)
	}
	whileServing(t, func(ctx context.Context, started func(string)) error {
		return ovos.Serve(ctx, crib, ovos.ServeConfig{URL: url, Started: started})
	})
}

func toolNames(a *App) []string {
	var names []string
	for _, s := range a.Specs() {
		names = append(names, s.Box+"/"+s.Name)
	}
	return names
}

// TestOvosBox: tools of other programs on the bus are tools here; those that
// came from the bus do not go back onto it, and our own do not come in.
func TestOvosBox(t *testing.T) {
	url := plainBus(t)
	parrot(t, url)
	cfg := settings.Defaults()
	cfg.Mode = "yolo"
	cfg.Bus.URL = url
	cfg.Toolboxes.OvosBox.Enabled, cfg.Toolboxes.OvosBox.Window = true, time.Second
	cfg.Toolboxes.OvosBox.Effects = map[string]string{"parrot/echo": "pure"}
	a := openBusApp(t, cfg, Needs{})
	if len(a.Faults) > 0 || !slices.Contains(toolNames(a), "ovosbox/parrot__echo") {
		t.Fatalf("there are %q, left out %v", toolNames(a), a.Faults)
	}
	for _, s := range a.Specs() {
		if s.Name == "parrot__echo" && s.Effects != toolcrib.Pure {
			t.Errorf("the effects are %v and not those of the settings", s.Effects)
		}
	}
	result, err := a.Crib.Call(t.Context(), toolcrib.Call{Tool: "parrot__echo", Input: json.RawMessage(`{"text":"hi"}`), Caller: toolcrib.Caller{Subject: "ann"}})
	if err != nil || string(result.Value) != `{"text":"hi"}` {
		t.Errorf("over the bus: %+v, %v", result, err)
	}

	hostBus(t, a, cfg)
	c := join(t, ovos.ClientConfig{URL: url}, "ovos-math-tools")
	if _, faults := a.Reload(t.Context()); faults != nil {
		t.Error(faults)
	}
	time.Sleep(6 * time.Second) // until what the hosts said is old
	if _, faults := a.Reload(t.Context()); faults != nil {
		t.Error(faults)
	}
	for _, name := range toolNames(a) {
		if strings.HasPrefix(name, "ovosbox/") && name != "ovosbox/parrot__echo" {
			t.Errorf("%s is ours and came back over the bus", name)
		}
	}
	list, err := c.Toolboxes(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, box := range list {
		if box.ID == node.BoxName {
			t.Error("what came from the bus is served on it again")
		}
	}
}

// Rules and profiles that allow by a bare name must not mean what a host on a
// bus announces under that name.
func TestOvosBoxIsNotOurs(t *testing.T) {
	if own := ownBoxes(); slices.Contains(own, node.BoxName) || !slices.Contains(own, "files") {
		t.Errorf("our own boxes are %q", own)
	}
}

// TestOvosBoxWithoutABus: the program starts all the same, and soon.
func TestOvosBoxWithoutABus(t *testing.T) {
	cfg := settings.Defaults()
	cfg.Bus.URL = "ws://127.0.0.1:1/core"
	cfg.Toolboxes.OvosBox.Enabled, cfg.Toolboxes.OvosBox.Window = true, 100*time.Millisecond
	a := openBusApp(t, cfg, Needs{})
	if len(a.Faults) != 1 || a.Faults[0].Box != node.BoxName {
		t.Errorf("left out: %v", a.Faults)
	}
	cfg.Toolboxes.OvosBox.Effects = map[string]string{"x": "harmless"}
	if a := openBusApp(t, cfg, Needs{}); len(a.Faults) != 1 || !strings.Contains(a.Faults[0].Error(), "harmless") {
		t.Errorf("a misspelt effect: %v", a.Faults)
	}
}
