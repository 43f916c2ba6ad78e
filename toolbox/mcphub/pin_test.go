package mcphub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestForgotten: a server that another process removes does not get what was
// kept back approved by that.
func TestForgotten(t *testing.T) {
	dir := t.TempDir()
	r := &rogue{tools: echo}
	d := house(t, dir, r, Server{})
	d.refresh()
	defer d.hub.Follow(5 * time.Millisecond)()
	r.offer(another)
	d.refresh()
	if len(d.box.Held()) != 2 {
		t.Fatalf("kept back: %v", d.box.Held())
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	other, err := Open(t.Context(), nil, Needs{State: root})
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Forget("rogue"); err != nil {
		t.Fatal(err)
	}
	if err := d.box.Recheck(); err != nil {
		t.Fatal(err)
	}
	d.refresh()
	if held := d.box.Held(); len(held) != 2 || len(d.offered()) != 0 {
		t.Errorf("kept back %v, offered %v", held, d.offered())
	}
	for _, file := range []string{"pins-rogue.json", "manifest-rogue.json"} {
		if _, err := os.Stat(dir + "/" + file); err == nil {
			t.Errorf("%s is back", file)
		}
	}
	// Who adds it again sees it for the first time.
	again := house(t, dir, r, Server{})
	again.refresh()
	if len(again.offered()) != 2 {
		t.Errorf("offered after it was added again: %v", again.offered())
	}
}

// TestNewestListCounts: neither who looks at the pins again, nor an answer that
// comes late, puts an older list in the place of a newer one.
func TestNewestListCounts(t *testing.T) {
	r := &rogue{tools: echo}
	d := house(t, t.TempDir(), r, Server{})
	d.refresh()
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			if err := d.box.Recheck(); err != nil {
				t.Error(err)
			}
		}
	})
	all.Go(func() {
		for ctx.Err() == nil {
			if err := d.box.Refresh(context.WithoutCancel(ctx)); err != nil {
				t.Error(err)
			}
		}
	})
	for n := range 200 {
		list, want := echo, 0
		if n%2 == 0 {
			list, want = another, 2
		}
		r.offer(list)
		d.refresh()
		if held := d.box.Held(); len(held) != want {
			t.Errorf("list %d: kept back %v, want %d", n, held, want)
			break
		}
	}
	cancel()
	all.Wait()
}

// TestNothingAtFirst: a server that began with nothing has had its first sight.
func TestNothingAtFirst(t *testing.T) {
	for _, keep := range []bool{true, false} {
		r := &rogue{}
		d := house(t, t.TempDir(), r, Server{}, func(n *Needs) {
			if !keep {
				n.State = nil
			}
		})
		d.refresh()
		r.offer(another)
		r.changed()
		until(t, "the new list", func() bool { return len(d.box.Held()) == 2 })
		if len(d.offered()) != 0 {
			t.Errorf("kept %v: offered %v", keep, d.offered())
		}
	}
}

// TestApproveWhatWasShown: what has changed since a person looked is not approved.
func TestApproveWhatWasShown(t *testing.T) {
	dir := t.TempDir()
	r := &rogue{tools: echo}
	d := house(t, dir, r, Server{})
	d.refresh()
	r.offer(`{"name":"echo","description":"Says it again, please.","inputSchema":{"type":"object"}},{"name":"good","inputSchema":{"type":"object"}}`)
	d.refresh()
	look := house(t, dir, r, Server{}, func(n *Needs) { n.ReadOnly = true })
	shown := look.box.Held()
	if len(shown) != 2 || shown[0].Hash == "" {
		t.Fatalf("shown: %v", shown)
	}
	r.offer(`{"name":"echo","description":"EVIL","inputSchema":{"type":"object"}},{"name":"good","inputSchema":{"type":"object"}}`)
	d.refresh()
	person := house(t, dir, r, Server{})
	done, err := person.box.ApproveHeld(shown)
	if !slices.Equal(done, []string{"good"}) || err == nil || !strings.Contains(err.Error(), "it has changed again") {
		t.Errorf("approved %q: %v", done, err)
	}
	if got := person.offered(); len(got) != 1 || len(person.box.Held()) != 1 {
		t.Errorf("offered %v", got)
	}
	// The hash is that of the text, whatever is said to be.
	forged := person.box.Held()[0]
	forged.Is = shown[0].Is
	if done, err := person.box.ApproveHeld([]Held{forged}); len(done) != 0 || err == nil {
		t.Errorf("approved %q: %v", done, err)
	}
	if _, err := look.box.ApproveHeld(shown); err == nil {
		t.Error("something was approved by who only looks")
	}
	// A process that runs takes what was approved elsewhere.
	if done, err := person.box.ApproveHeld(person.box.Held()); err != nil || !slices.Equal(done, []string{"echo"}) {
		t.Fatalf("approved %q: %v", done, err)
	}
	if err := d.box.Recheck(); err != nil || d.offered()["echo"] != "EVIL" {
		t.Errorf("offered %v: %v", d.offered(), err)
	}
}

// TestEveryMemberIsPinned: whatever changes of a definition, it is another one.
func TestEveryMemberIsPinned(t *testing.T) {
	const first = `{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"}}`
	for _, then := range []string{
		`{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"},"_meta":{"x":"EVIL"}}`,
		`{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"},"icons":[{"src":"https://example.com"}]}`,
		`{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"},"title":"EVIL"}`,
		`{"name":"echo","description":"Says it again.","inputSchema":{"type":"object"},"annotations":{"title":"EVIL"}}`,
		`{"name":"echo","description":"Says it again.","inputSchema":{"type":"object","maxProperties":9007199254740993}}`,
	} {
		r := &rogue{tools: first}
		d := house(t, t.TempDir(), r, Server{})
		d.refresh()
		r.offer(then)
		d.refresh()
		if len(d.box.Held()) != 1 || len(d.offered()) != 0 || d.box.Definition("echo") != nil {
			t.Errorf("%s is offered: %v", then, d.offered())
		}
	}
	r := &rogue{tools: first}
	d := house(t, t.TempDir(), r, Server{})
	d.refresh()
	r.offer(`{ "inputSchema":{"type": "object"}, "description":"Says\u0020it again.", "name":"echo" }`)
	d.refresh()
	if len(d.offered()) != 1 || len(d.box.Held()) != 0 {
		t.Errorf("the same in another order is kept back: %v", d.box.Held())
	}
}

// TestDefine: what two readers could read as two things is not read at all.
func TestDefine(t *testing.T) {
	for text, good := range map[string]bool{
		echo: true,
		`{"name":"a","inputSchema":{"properties":{"x":{"type":"string"},"y":{"type":"string"}}}}`: true,
		`{"name":"a","x":[{"y":1},{"y":1}],"z":{"y":"y"}}`:                                        true,
		`{"name":"a","Description":"b"}`:                                                          false,
		`{"name":"a","inputschema":{}}`:                                                           false,
		`{"name":"a","annotation\u017f":{}}`:                                                      false,
		`{"name":"a","_Meta":{}}`:                                                                 false,
		`{"name":"a","description":"b","description":"c"}`:                                        false,
		`{"name":"a","descr\u0069ption":"b","description":"c"}`:                                   false,
		`{"name":"a","inputSchema":{"properties":{"x":{"type":"string","type":"number"}}}}`:       false,
		`{"name":"a","inputSchema":{"anyOf":[{"x":1,"x":2}]}}`:                                    false,
		`{"name":"a","description":"\ud800"}`:                                                     true, // kept back, see TestHalves
		`{"name":"a","description":"` + "\xff" + `"}`:                                             false,
		`{"name":5}`: false, `{"name":"a","title":5}`: false, `null`: false, `[]`: false, `5`: false,
	} {
		if _, err := define(json.RawMessage(text)); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestNamesOfOurOwn: no tool of a server takes the place of one that is added to
// it, and two names never meet.
func TestNamesOfOurOwn(t *testing.T) {
	plain := plainName("echo tool")
	if plainName(plain) == plain || plainName("deadbeef") != "deadbeef" || plainName("x_deadbee") != "x_deadbee" {
		t.Errorf("%q, %q", plain, plainName(plain))
	}
	r := &rogue{tools: `{"name":"echo tool","description":"ok","inputSchema":{"type":"object"}},{"name":"mcp_subscribe","inputSchema":{"type":"object"}}`}
	d := house(t, t.TempDir(), r, Server{})
	d.refresh()
	if len(d.offered()) != 1 || len(d.box.Faults()) != 1 {
		t.Errorf("offered %v, faults %v", d.offered(), d.box.Faults())
	}
	r.offer(fmt.Sprintf(`{"name":%q,"description":"EVIL","inputSchema":{"type":"object"}},{"name":"echo tool","description":"ok","inputSchema":{"type":"object"}}`, plain))
	d.refresh()
	if text := string(d.box.Definition(plain)); !strings.Contains(text, `"ok"`) || len(d.box.Held()) != 1 {
		t.Errorf("the definition is %s", text)
	}
	if d.box.Definition(plainName(plain)) != nil {
		t.Error("the definition of what is kept back is given")
	}
}

func TestShelfTools(t *testing.T) {
	r := &rogue{tools: echo, caps: `{"tools":{},"prompts":{}}`}
	d := house(t, t.TempDir(), r, Server{})
	d.refresh()
	list, err := d.box.Tools(t.Context())
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	for _, tool := range list {
		if tool.Group != "mcp" || IsShelf(tool.Group, tool.Name) != (tool.Name == PromptTool) {
			t.Errorf("%s: group %s, shelf %v", tool.Name, tool.Group, IsShelf(tool.Group, tool.Name))
		}
	}
	if IsShelf("mcp", "other") || IsShelf("files", ReadTool) || !IsShelf("mcp", ReadTool) {
		t.Error("a shelf tool is told by its native name and its group")
	}
}

func FuzzDefine(f *testing.F) {
	f.Add(echo)
	f.Add(`{"name":"a","Name":"b","x":[{"y":null},1.0e5,"z"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		d, err := define(json.RawMessage(text))
		if err != nil {
			return
		}
		again, err := define(compact(json.RawMessage(text)))
		if err != nil || again.sum != d.sum || again.Name != d.Name {
			t.Errorf("%q is read as two things: %v", text, err)
		}
	})
}

// TestHalves: half a letter, as a text has that was cut in the middle of an emoji, is
// for a person to look at; a character that stands for one is a character.
func TestHalves(t *testing.T) {
	for text, want := range map[string]bool{
		`{"name":"a","description":"cut \ud83d"}`: true, `{"name":"a","description":"\ude00\ud83d"}`: true, `{"name":"a","description":"\\\ud83d"}`: true,
		`{"name":"a","description":"\ud83d\ude00"}`: false, `{"name":"a","description":"\ufffd �"}`: false, `{"name":"a","description":"\\ud83d"}`: false, echo: false,
	} {
		d, err := define(json.RawMessage(text))
		if err != nil || (d.unseen != "") != want {
			t.Errorf("%s: %q, %v", text, d.unseen, err)
		}
	}
}

// TestGone: a tool that is gone is told of, and loses its approval once a person has
// seen that; it is no tool that was never there.
func TestGone(t *testing.T) {
	r := &rogue{tools: named("a", "", "") + "," + named("b", "", "")}
	d := house(t, t.TempDir(), r, Server{})
	d.refresh()
	if gone := d.box.Gone(); len(gone) != 0 {
		t.Errorf("%v", gone)
	}
	r.offer(named("a", "", ""))
	d.box.Restart()
	d.refresh()
	if gone := d.box.Gone(); len(gone) != 1 || gone[0] != "b" {
		t.Fatalf("%v", gone)
	}
	if err := d.box.ForgetGone([]string{"a", "b"}); err != nil || len(d.box.Gone()) != 0 {
		t.Errorf("%v, %v", err, d.box.Gone())
	}
	r.offer(named("a", "", "") + "," + named("b", "", ""))
	d.box.Restart()
	d.refresh()
	if held := d.box.Held(); len(held) != 1 || held[0].Tool != "b" || len(d.offered()) != 1 {
		t.Errorf("held %v, offered %v", held, d.offered())
	}
}
