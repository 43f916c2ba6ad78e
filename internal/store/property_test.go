package store

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib"
)

func anyEntry(t *rapid.T, name string) entry {
	text := rapid.SampledFrom([]string{"", "a", "ab", "b", "\x00", "\x00\x00\x00\x01", "aa"})
	return entry{
		seq: rapid.Uint64Range(0, 3).Draw(t, name), kind: kind(rapid.Int64Range(0, 3).Draw(t, "kind")), at: rapid.Int64Range(-1, 1).Draw(t, "at"),
		ref: rapid.Uint64Range(0, 1).Draw(t, "ref"), duration: rapid.Int64Range(0, 1).Draw(t, "duration"),
		call: text.Draw(t, "call"), subject: text.Draw(t, "subject"), session: text.Draw(t, "session"), tool: text.Draw(t, "tool"),
		box: text.Draw(t, "box"), outcome: text.Draw(t, "outcome"), run: text.Draw(t, "run"), body: []byte(text.Draw(t, "body")),
	}
}

// TestHashedTextIsUnique: two entries that differ anywhere have different
// hashed texts. Few short values make near misses likely: a byte that moves
// from one column into the next must not go unseen.
func TestHashedTextIsUnique(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyEntry(t, "a")
		b := a
		switch rapid.IntRange(0, 9).Draw(t, "what differs") {
		case 0:
			b = anyEntry(t, "b")
		case 1:
			b.call, b.subject = b.subject, b.call
		case 2:
			b.call, b.subject = b.call+b.subject, ""
		case 3:
			b.run, b.body = b.run+string(b.body), nil
		case 4:
			b.outcome, b.run = "", b.outcome+b.run
		case 5:
			b.seq++
		case 6:
			b.kind++
		case 7:
			b.ref, b.seq = b.seq, b.ref
		case 8:
			b.duration, b.at = b.at, b.duration
		case 9:
			b.body = append(bytes.Clone(b.body), 0)
		}
		same := cmp.Equal(a, b, cmp.AllowUnexported(entry{}), cmp.Comparer(bytes.Equal))
		if equal := bytes.Equal(a.appendHashed(nil, &sum{}), b.appendHashed(nil, &sum{})); equal != same {
			t.Fatalf("the entries are the same: %v; their hashed texts: %v\n%+v\n%+v", same, equal, a, b)
		}
		// What an op does in two steps must be what an entry does in one.
		o := newOp()
		o.entry = a
		o.ready(a.run)
		o.ref = b.ref
		s := newSealer(sealKey{secret: []byte("secret")})
		o.place(head{7, sum{9}}, s)
		a.ref, a.seq = b.ref, 8
		if want := a.sumAfter(&sum{9}, new([]byte)); o.hash != want {
			t.Fatalf("an op gets another hash than its entry")
		}
		a.hash, a.seal = o.hash, o.mark[:]
		if !s.proves(&a) {
			t.Fatalf("an op gets another seal than its entry")
		}
	})
}

// TestBodiesComeBack: whatever a record says is read back, in text as it can
// stand in JSON.
func TestBodiesComeBack(t *testing.T) {
	var w bodyWriter
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		raw := rapid.Custom(func(t *rapid.T) json.RawMessage {
			b, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.SliceOf(rapid.Float64Range(-1e9, 1e9))).Draw(t, "value"))
			if err != nil {
				t.Fatal(err)
			}
			return b
		})
		r := toolcrib.Record{
			Seq: 5, ID: "x" + clean(text.Draw(t, "id")), Parent: text.Draw(t, "parent"), Tool: clean(text.Draw(t, "tool")),
			Caller: toolcrib.Caller{Subject: clean(text.Draw(t, "subject")), Agent: text.Draw(t, "agent"), Session: clean(text.Draw(t, "session")), Frontend: text.Draw(t, "via")},
			Input:  raw.Draw(t, "input"), InputHash: text.Draw(t, "hash"), Start: time.Unix(0, rapid.Int64Range(0, 4e18).Draw(t, "start")).UTC(),
		}
		var b, e entry
		if err := beginEntry(&b, &r, &w); err != nil {
			t.Fatal(err)
		}
		b.seq, b.body = 5, bytes.Clone(b.body)
		r.Message, r.Outcome, r.Result = text.Draw(t, "message"), toolcrib.Done, raw.Draw(t, "result")
		r.Verdicts = []toolcrib.Verdict{{Decision: toolcrib.Ask, Reason: text.Draw(t, "reason")}}
		r.Duration = time.Duration(rapid.Int64().Draw(t, "duration"))
		if err := endEntry(&e, &r, time.Now(), &w); err != nil {
			t.Fatal(err)
		}
		got, err := record(&b, &e)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
