package mcphub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/mcp"
	"github.com/toolcrib/toolcrib/internal/mcp/client"
)

// diary is a server with state: it lists what its person wrote, in the names of
// resources and prompts. Each start is another one.
type diary struct {
	mu   sync.Mutex
	page string
	asks []string // addresses that it was asked to tell of
	say  sayFunc
}

const diaryCaps = `{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{"listChanged":true}}`

func (d *diary) answer(method string, say sayFunc, id, params json.RawMessage) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.say = say
	switch method {
	case mcp.MethodToolsCall:
		d.page = textMember(member(params, "arguments"), "text")
		say(`{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`)
		say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id)
	case mcp.MethodResourcesList:
		say(`{"jsonrpc":"2.0","id":%s,"result":{"resources":[{"uri":"diary:///%s","name":"%s"}]}}`, id, d.page, d.page)
	case mcp.MethodTemplatesList:
		say(`{"jsonrpc":"2.0","id":%s,"result":{"resourceTemplates":[{"uriTemplate":"diary:///%s/{x}","name":"t"}]}}`, id, d.page)
	case mcp.MethodPromptsList:
		say(`{"jsonrpc":"2.0","id":%s,"result":{"prompts":[{"name":"about-%s"}]}}`, id, d.page)
	case mcp.MethodSubscribe:
		d.asks = append(d.asks, textMember(params, "uri"))
		say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
	default:
		return false
	}
	return true
}

func member(text json.RawMessage, key string) json.RawMessage {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(text, &all) // nil has no members
	return all[key]
}

// diaries is a hub of one server of which each person has their own.
type diaries struct {
	*den
	dir string

	mu    sync.Mutex
	by    map[string][]*diary // by person, as the launcher is told
	heard []Notice
	news  chan struct{}
}

func newDiaries(t *testing.T, instance Instance) *diaries {
	d := &diaries{dir: t.TempDir(), by: map[string][]*diary{}, news: make(chan struct{}, 1)}
	d.den = house(t, d.dir, &rogue{}, Server{Instance: instance, Idle: time.Hour}, func(n *Needs) {
		n.Start = func(ctx context.Context, l Launch) (client.Process, error) {
			one := &diary{page: "blank"}
			d.mu.Lock()
			d.by[l.Person] = append(d.by[l.Person], one)
			d.mu.Unlock()
			return (&rogue{caps: diaryCaps, tools: echo, other: one.answer}).start(ctx, l)
		}
	})
	t.Cleanup(d.hub.Watch(func(n Notice) {
		d.mu.Lock()
		d.heard = append(d.heard, n)
		d.mu.Unlock()
		select {
		case d.news <- struct{}{}:
		default:
		}
	}))
	d.refresh()
	return d
}

// await waits until a notice has come that fits.
func (d *diaries) await(what string, fits func(Notice) bool) {
	d.t.Helper()
	late := time.After(20 * time.Second)
	for {
		d.mu.Lock()
		heard := slices.Clone(d.heard) // whoever looks whether it fits may make more of it
		d.mu.Unlock()
		if slices.ContainsFunc(heard, fits) {
			return
		}
		select {
		case <-d.news:
		case <-late:
			d.t.Fatalf("nobody was told %s", what)
		}
	}
}

func (d *diaries) write(who toolcrib.Caller, text string) {
	d.t.Helper()
	if _, err := d.den.call(d.t.Context(), "echo", `{"text":"`+text+`"}`, who); err != nil {
		d.t.Fatal(err)
	}
	d.await(who.Subject+" of "+text, func(n Notice) bool {
		return n.Method == mcp.NotifyResources && n.For(who) && strings.Contains(d.seen(who), text)
	})
}

// seen is all that a caller is listed.
func (d *diaries) seen(who toolcrib.Caller) string {
	return fmt.Sprintf("%s", d.box.ListingFor(d.t.Context(), who, func() bool { return true }))
}

func TestListsAreOfOnePerson(t *testing.T) {
	for _, instance := range []Instance{PerPerson, PerSession} {
		d := newDiaries(t, instance)
		ann, bob := toolcrib.Caller{Subject: "ann", Session: "1"}, toolcrib.Caller{Subject: "bob", Session: "1"}
		nobody := toolcrib.Caller{}
		// Asked before any call: their own server is started for it.
		for _, who := range []toolcrib.Caller{ann, bob} {
			if got := d.seen(who); !strings.Contains(got, "diary:///blank") || !strings.Contains(got, "about-blank") {
				t.Fatalf("%s sees %s", who.Subject, got)
			}
		}
		d.write(ann, "divorce")
		d.write(bob, "layoffs")
		for who, foreign := range map[*toolcrib.Caller]string{&ann: "layoffs", &bob: "divorce", &nobody: "divorce"} {
			if got := d.seen(*who); strings.Contains(got, foreign) {
				t.Errorf("%s: %q sees %s", instance, who.Subject, got)
			}
		}
		if got := fmt.Sprintf("%s", d.box.Listing()); strings.Contains(got, "divorce") || strings.Contains(got, "layoffs") {
			t.Errorf("everybody sees %s", got)
		}
		// What was said is told to its person only.
		d.mu.Lock()
		for _, n := range d.heard {
			if n.For(ann) && n.For(bob) {
				t.Errorf("%s: both hear of %s", instance, n.Method)
			}
		}
		d.mu.Unlock()
		files, err := os.ReadDir(d.dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(d.dir, f.Name()))
			if err != nil || strings.Contains(string(text), "divorce") || strings.Contains(string(text), "layoffs") {
				t.Errorf("%s: %s, %v", f.Name(), text, err)
			}
		}
		// Another conversation of the same person sees the same, if the server is theirs.
		again := ann
		again.Session = "2"
		if got := d.seen(again); strings.Contains(got, "divorce") != (instance == PerPerson) || strings.Contains(got, "layoffs") {
			t.Errorf("%s: in another conversation ann sees %s", instance, got)
		}
	}
}

// TestSubscriptionsAreOfOnePerson: the server of one person is not told what another
// follows, not even when it starts anew, and what it says reaches nobody else.
func TestSubscriptionsAreOfOnePerson(t *testing.T) {
	d := newDiaries(t, PerPerson)
	ann, bob := toolcrib.Caller{Subject: "ann", Session: "1"}, toolcrib.Caller{Subject: "bob", Session: "1"}
	d.seen(ann)
	d.seen(bob)
	const private = "diary:///ann-and-the-doctor"
	if _, err := d.call(t.Context(), SubscribeTool, `{"uri":"`+private+`","on":true}`, ann); err != nil {
		t.Fatal(err)
	}
	d.box.Restart()
	for _, who := range []toolcrib.Caller{bob, ann} {
		if _, err := d.den.call(t.Context(), "echo", `{"text":"x"}`, who); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := d.call(t.Context(), SubscribeTool, `{"uri":"diary:///bobs","on":true}`, bob); err != nil {
		t.Fatal(err)
	}
	d.mu.Lock()
	person := func(c toolcrib.Caller) []*diary {
		return d.by[(&instance{box: d.box, key: d.box.keyOf(placeOf(c))}).person()]
	}
	anns, bobs := person(ann), person(bob)
	d.mu.Unlock()
	if len(anns) != 2 || len(bobs) != 2 {
		t.Fatalf("there were %d and %d servers", len(anns), len(bobs))
	}
	for n, one := range append(bobs, d.by[""]...) {
		one.mu.Lock()
		if strings.Contains(strings.Join(one.asks, " "), "doctor") {
			t.Errorf("server %d of another was asked for %v", n, one.asks)
		}
		one.mu.Unlock()
	}
	now := anns[1]
	now.mu.Lock()
	if strings.Join(now.asks, " ") != private {
		t.Errorf("ann's server was asked for %v", now.asks)
	}
	say := now.say
	now.mu.Unlock()
	say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"%s"}}`, private)
	about := func(n Notice) bool { return n.Method == mcp.NotifyResource }
	d.await("of the resource", about)
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range d.heard {
		if about(n) && (!n.For(ann) || n.For(bob) || n.For(toolcrib.Caller{}) || n.For(toolcrib.Caller{Subject: "ann", Organisation: "other"})) {
			t.Errorf("%s is told to others, or not to ann", n.Params)
		}
	}
}

// TestListsWithoutLeave: a caller for whom the server may not be started is listed
// nothing, and nothing is started.
func TestListsWithoutLeave(t *testing.T) {
	d := newDiaries(t, PerPerson)
	got := d.box.ListingFor(t.Context(), toolcrib.Caller{Subject: "eve"}, func() bool { return false })
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(got.Resources)+len(got.Prompts)+len(got.Templates) != 0 || len(d.by) != 1 {
		t.Errorf("%s, %d servers", got, len(d.by))
	}
}

// TestASharedServerListsForAll, as before.
func TestASharedServerListsForAll(t *testing.T) {
	d := newDiaries(t, Shared)
	ann, bob := toolcrib.Caller{Subject: "ann"}, toolcrib.Caller{Subject: "bob"}
	if _, err := d.den.call(t.Context(), "echo", `{"text":"open"}`, ann); err != nil {
		t.Fatal(err)
	}
	d.await("of the list", func(n Notice) bool { return n.For(ann) && n.For(bob) && strings.Contains(d.seen(bob), "open") })
}

// TestOffersAreBounded: the lists of many people do not take all the room, and the
// one that was just made stays.
func TestOffersAreBounded(t *testing.T) {
	b := &Box{offers: map[string]*offer{}, instances: map[string]*instance{"p0": {}}}
	for n := range 3 * offersMost {
		key := fmt.Sprintf("p%d", n)
		b.offers[key] = &offer{since: b.next, size: 1}
		b.next++
		b.forgetOffers(key)
		if b.offers[key] == nil || len(b.offers) > offersMost {
			t.Fatalf("%d: %d offers", n, len(b.offers))
		}
	}
	if b.offers["p0"] == nil || b.offers["p1"] != nil {
		t.Error("one whose server runs went before one whose does not")
	}
	b.offers["huge"] = &offer{since: b.next, size: 2 * offersSize}
	b.forgetOffers("huge")
	if len(b.offers) != 1 {
		t.Errorf("%d offers beside a huge one", len(b.offers)-1)
	}
}
