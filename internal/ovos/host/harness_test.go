package host_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/files"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	"github.com/toolcrib/toolcrib/internal/ovos/dialect"
	"github.com/toolcrib/toolcrib/internal/ovos/host"
	"github.com/toolcrib/toolcrib/toolbox/clock"
	filesbox "github.com/toolcrib/toolcrib/toolbox/files"
	"github.com/toolcrib/toolcrib/toolbox/math"
	"github.com/toolcrib/toolcrib/toolbox/shell"
)

// room is a crib with the boxes that OpenVoiceOS knows, and more.
type room struct {
	crib     *toolcrib.Crib
	journal  *cribtest.Memory
	shelving toolcrib.Contents
}

// setup says how a room is furnished.
type setup struct {
	root    string // granted for reading, and where relative names begin
	write   bool
	sandbox toolcrib.Sandbox
	guards  []toolcrib.Guard // nil: everything is allowed
	opt     dialect.Options
	more    []toolcrib.Toolbox
}

func furnish(t testing.TB, s setup) *room {
	t.Helper()
	clockBox, err := clock.Open(t.Context(), clock.Config{})
	if err != nil {
		t.Fatal(err)
	}
	mathBox, err := math.Open(t.Context(), math.Config{})
	if err != nil {
		t.Fatal(err)
	}
	fileBox, err := filesbox.Open(t.Context(), filesbox.Config{})
	if err != nil {
		t.Fatal(err)
	}
	shellBox, err := shell.Open(t.Context(), shell.Config{MaxTimeout: s.opt.MaxTimeout}, shell.Needs{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shellBox.Close(); err != nil {
			t.Error(err)
		}
	})
	if s.guards == nil {
		s.guards = []toolcrib.Guard{cribtest.Allow()}
	}
	s.opt.Root = s.root
	r := &room{journal: &cribtest.Memory{}}
	r.crib = &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: s.guards, Sandbox: s.sandbox, Journal: r.journal, Log: slog.New(slog.DiscardHandler)}
	if s.root != "" {
		r.crib.Grant.Dirs = []files.Dir{{Path: s.root, Write: s.write}}
	}
	if s.sandbox != nil {
		r.crib.Grant.Programs = []string{"/bin/sh"}
	}
	r.shelving = toolcrib.Contents{Boxes: append([]toolcrib.Toolbox{clockBox, mathBox, fileBox, shellBox}, s.more...), Adapters: dialect.Adapters(s.opt)}
	if _, faults := r.load(t.Context()); faults != nil {
		t.Fatal(faults)
	}
	return r
}

func (r *room) load(ctx context.Context) (toolcrib.Diff, []toolcrib.LoadError) {
	return r.crib.Catalog.Load(ctx, r.shelving)
}

// config is a host with a bus of its own.
func (r *room) config() host.Config {
	return host.Config{
		Crib: r.crib, Load: r.load,
		Contract:  func(s toolcrib.Entry) any { return dialect.Contract(dialect.OVOS, s) },
		ErrorText: func(e *toolcrib.Error, box string) string { return dialect.ErrorText(dialect.OVOS, e, box) },
		BoxID:     boxID,
		Speech:    host.Speech{Refusal: dialect.OVOSRefusal, Placed: dialect.OVOSPlaced, Failure: dialect.OVOSFailure},
		Serve:     &bus.ServerConfig{Addr: "127.0.0.1:0"},
		Around:    -1, // these tests are alone
		Bus:       bus.ClientConfig{BackoffMin: 5 * time.Millisecond, BackoffMax: 50 * time.Millisecond},
		Log:       slog.New(slog.DiscardHandler),
	}
}

// boxID reads the id from where the dialect writes it.
func boxID(box string) string {
	text, err := json.Marshal(dialect.Contract(dialect.OVOS, toolcrib.Entry{Box: box}))
	var c struct {
		ToolboxID string `json:"toolbox_id"`
	}
	if err != nil || json.Unmarshal(text, &c) != nil {
		return box
	}
	return c.ToolboxID
}

// serve starts a host and gives the URL of its bus and how to stop it.
func serve(t testing.TB, cfg host.Config) (url string, stop func()) {
	t.Helper()
	started := make(chan string, 1)
	cfg.Started = func(url string) { started <- url }
	h, err := host.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the host ended with %v", err)
			}
		case <-time.After(patience):
			t.Error("the host does not end")
		}
	}
	t.Cleanup(stop)
	select {
	case url = <-started:
	case err := <-ended:
		t.Fatalf("the host did not start: %v", err)
	case <-time.After(patience):
		t.Fatal("the host does not start")
	}
	return url, stop
}

// open serves a room and connects a client that knows nothing.
func open(t testing.TB, s setup) (*room, *socket) {
	t.Helper()
	r := furnish(t, s)
	url, _ := serve(t, r.config())
	return r, ready(t, url)
}

// ready connects a client and waits until the host is on the bus too: what is
// sent before is for nobody.
func ready(t testing.TB, url string) *socket {
	t.Helper()
	s := connect(t, url)
	s.wake()
	return s
}

// wake asks until somebody answers.
func (s *socket) wake() {
	s.t.Helper()
	answered := make(chan struct{})
	go func() {
		for {
			if s.write(1, []byte(`{"type":"ovos.tools.get","data":{"name":"get_current_datetime"},"context":{"mark":"wake"}}`)) != nil {
				return
			}
			select {
			case <-answered:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	s.next("ovos.tools.get.response", "wake")
	close(answered)
}

// tool is a raw tool that answers what run gives.
func tool(name string, run func(ctx context.Context, input json.RawMessage) (*toolcrib.Result, error)) toolcrib.Tool {
	return toolcrib.Tool{
		Spec: toolcrib.Spec{Name: name, Description: "A tool of the test.", Input: json.RawMessage(`{"type":"object"}`), Effects: toolcrib.Pure},
		Run: func(ctx context.Context, _ *toolcrib.Env, input json.RawMessage) (*toolcrib.Result, error) {
			return run(ctx, input)
		},
	}
}
