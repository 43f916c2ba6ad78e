package store

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"os"
	"testing"
	"time"
)

func FuzzCheckpoint(f *testing.F) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	good, err := newCheckpoint(key, head{7, sum{1, 2, 3}}, time.Unix(1e9, 5)).encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"seq":-1}`))
	f.Add(append(bytes.Clone(good), good...))
	f.Add(bytes.ToUpper(good))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseCheckpoint(text)
		if err != nil {
			return
		}
		_ = c.head() // must not panic on what was parsed
		again, err := c.encode()
		if err != nil {
			t.Fatal(err)
		}
		d, err := parseCheckpoint(again)
		if err != nil || *d != *c {
			t.Fatalf("%s is read as %+v and then as %+v, %v", text, c, d, err)
		}
		// Whatever is accepted as signed says exactly what was signed.
		if c.check(key.Public().(ed25519.PublicKey)) == nil && (c.Seq != 7 || c.head().hash != sum{1, 2, 3}) {
			t.Fatalf("%s passes for signed", text)
		}
	})
}

// TestReserve fills the disk: writing fails until the reserve is given up.
func TestReserve(t *testing.T) {
	s := newSpill(t.TempDir(), "0123456789abcdef")
	full := errors.New("the disk is full")
	s.flush = func(f *os.File) error {
		if _, err := os.Stat(s.room.path); err == nil {
			return full
		}
		return f.Sync()
	}
	o := newOp()
	o.entry = entry{kind: kindEnd, call: "one", outcome: "done", body: []byte(`{}`)}
	for range 2 {
		if err := s.room.fill(); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(s.room.path); err != nil || info.Size() != reserveBytes {
		t.Fatalf("the reserve: %v %v", info, err)
	}
	if err := s.add([]*op{o, o}, newSealer(sealKey{})); err != nil {
		t.Errorf("with a reserve: %v", err)
	}
	text, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	// The failed attempt left nothing behind.
	if ends, bad, err := parseSpill(bytes.NewReader(text)); len(ends) != 2 || bad != 0 || err != nil {
		t.Errorf("%d ends, %d bad lines, %v in %s", len(ends), bad, err, text)
	}
	s.flush = func(*os.File) error { return full }
	if err := s.add([]*op{o}, newSealer(sealKey{})); !errors.Is(err, full) || s.count != 2 {
		t.Errorf("without a reserve: %v, %d spilled", err, s.count)
	}
	if err := s.clear(); err != nil {
		t.Error(err)
	}
}

func FuzzSpill(f *testing.F) {
	f.Add([]byte(`{"at_ns":1,"call":"a","outcome":"done","body":{}}` + "\n"))
	f.Add([]byte(`{"at_ns":1,"duration_ns":2,"call":"a","subject":"b","session":"c","tool":"d","box":"e","outcome":"done","body":{"result":[1]}}` + "\nx\n{}\n{"))
	f.Add([]byte("\n\n\x00\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		ends, bad, err := parseSpill(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("reading from memory failed: %v", err)
		}
		if lines := bytes.Count(text, []byte("\n")); len(ends)+bad < lines || len(ends)+bad > lines+1 {
			t.Fatalf("%d lines gave %d ends and %d bad ones", lines, len(ends), bad)
		}
		for i := range ends {
			o := ends[i].op("0123456789abcdef")
			if o.kind != kindEnd || o.call == "" || o.outcome == "" || !json.Valid(o.body) {
				t.Fatalf("%q gives the entry %+v", text, o.entry)
			}
			var e endBody
			if err := json.Unmarshal(o.body, &e); err != nil {
				t.Skip("a body that is JSON, but no record; the spill file was edited")
			}
		}
	})
}
