package ovos_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/ovos"
)

const patience = 30 * time.Second

type echoIn struct {
	Text string `json:"text"`
}

type echoOut struct {
	Text string `json:"text"`
}

func boxes() []toolcrib.Toolbox {
	echo := toolcrib.Define(toolcrib.Spec{Name: "echo", Description: "Says it again.", Effects: toolcrib.Pure},
		func(_ context.Context, _ *toolcrib.Env, in echoIn) (echoOut, error) { return echoOut(in), nil })
	forbidden := toolcrib.Define(toolcrib.Spec{Name: "forbidden", Description: "Changes something.", Effects: toolcrib.Writes},
		func(context.Context, *toolcrib.Env, echoIn) (echoOut, error) { panic("it ran") })
	return []toolcrib.Toolbox{toolcrib.NewBox("parrot", echo, forbidden), toolcrib.NewBox("empty")}
}

// serve puts a crib on a bus of its own.
func serve(t *testing.T, cfg ovos.ServeConfig) (url string, journal *cribtest.Memory) {
	t.Helper()
	journal = &cribtest.Memory{}
	crib := &toolcrib.Crib{Catalog: &toolcrib.Catalog{}, Guards: []toolcrib.Guard{toolcrib.AllowEffects(toolcrib.Pure)}, Journal: journal}
	if _, faults := crib.Catalog.Load(t.Context(), toolcrib.Contents{Boxes: boxes()}); faults != nil {
		t.Fatal(faults)
	}
	started := make(chan string, 1)
	cfg.Listen, cfg.Started = "127.0.0.1:0", func(url string) { started <- url }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- ovos.Serve(ctx, crib, cfg) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	select {
	case url = <-started:
	case <-time.After(patience):
		t.Fatal("it does not start")
	}
	return url, journal
}

func dial(t *testing.T, cfg ovos.ClientConfig) *ovos.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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
	if _, err := c.Toolbox(ctx, "parrot"); err != nil { // it is on the bus from now on
		t.Fatal(err)
	}
	return c
}

func TestToolboxes(t *testing.T) {
	url, _ := serve(t, ovos.ServeConfig{Boxes: boxes()})
	c := dial(t, ovos.ClientConfig{URL: url})
	list, err := c.Toolboxes(t.Context(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, box := range list {
		got = append(got, box.ID)
		for _, tool := range box.Tools {
			got = append(got, box.ID+"/"+tool.Name)
			if !json.Valid(tool.Arguments) || !json.Valid(tool.Output) {
				t.Errorf("%s has no schemas", tool.Name)
			}
		}
	}
	if want := []string{"empty", "parrot", "parrot/echo", "parrot/forbidden"}; !slices.Equal(got, want) {
		t.Errorf("on the bus: %q, want %q", got, want)
	}
}

// A call from the bus is judged and recorded like any other.
func TestCall(t *testing.T) {
	url, journal := serve(t, ovos.ServeConfig{Subject: "the kitchen"})
	c := dial(t, ovos.ClientConfig{URL: url})
	got, err := ovos.Invoke[echoOut](t.Context(), c, "parrot", "echo", echoIn{"hi <&> ✓"})
	if err != nil || got.Text != "hi <&> ✓" {
		t.Errorf("echo gave %+v, %v", got, err)
	}
	for _, refused := range []struct {
		tool string
		args any
		want string
	}{
		{"forbidden", echoIn{"x"}, "denied"},
		{"nothing", nil, "Unknown tool"},
		{"echo", map[string]any{}, "text"},
	} {
		_, err := c.Call(t.Context(), "parrot", refused.tool, refused.args)
		if e, ok := errors.AsType[*ovos.CallError](err); !ok || !strings.Contains(e.Error(), refused.want) || e.Tool != refused.tool || e.Toolbox != "parrot" {
			t.Errorf("%s was answered with %v", refused.tool, err)
		}
	}
	for _, args := range []any{[]int{1}, "text", json.RawMessage(`{"a":`), make(chan int)} {
		if _, err := c.Call(t.Context(), "parrot", "echo", args); err == nil {
			t.Errorf("the arguments %v went out", args)
		}
	}
	records := journal.Records()
	if len(records) < 2 {
		t.Fatalf("%d records", len(records))
	}
	for _, r := range records {
		if r.Caller.Subject != "the kitchen" || r.Caller.Frontend != "ovos-bus" {
			t.Errorf("%s was recorded as made by %+v", r.Tool, r.Caller)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	url, _ := serve(t, ovos.ServeConfig{})
	c := dial(t, ovos.ClientConfig{URL: url})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Call(ctx, "elsewhere", "echo", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a toolbox that is not there: %v", err)
	}
	if _, err := c.Toolbox(ctx, "elsewhere"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("looking for it: %v", err)
	}
}

func TestToken(t *testing.T) {
	url, _ := serve(t, ovos.ServeConfig{Token: "open sesame, please"})
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := ovos.Dial(ctx, ovos.ClientConfig{URL: url}); !errors.Is(err, ovos.ErrNoBus) || !strings.Contains(err.Error(), "401") {
		t.Errorf("without the token: %v", err)
	}
	c := dial(t, ovos.ClientConfig{URL: url, Token: "open sesame, please"})
	if _, err := c.Call(t.Context(), "parrot", "echo", echoIn{"hi"}); err != nil {
		t.Error(err)
	}
}

func TestServeRefuses(t *testing.T) {
	for name, cfg := range map[string]ovos.ServeConfig{
		"two buses":           {URL: ovos.DefaultURL, Listen: "127.0.0.1:0"},
		"another scheme":      {URL: "http://127.0.0.1/"},
		"every interface":     {Listen: ":0"},
		"every interface, v4": {Listen: "0.0.0.0:0"},
	} {
		if err := ovos.Serve(t.Context(), &toolcrib.Crib{Catalog: &toolcrib.Catalog{}}, cfg); err == nil {
			t.Errorf("%s: it served", name)
		}
	}
	if err := ovos.Serve(t.Context(), nil, ovos.ServeConfig{Listen: "127.0.0.1:0"}); err == nil {
		t.Error("it served no crib")
	}
}
