package store_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib/internal/store"
)

// TestExport checks an exported file with nothing but the description of its
// lines.
func TestExport(t *testing.T) {
	cfg := journalWith(t, 10)
	lines := exportLines(t, export(t, cfg))
	if len(lines) != 21 {
		t.Fatalf("%d lines", len(lines))
	}
	kinds := map[string]uint64{"begin": 1, "end": 2, "interrupted": 3, "key": 4, "prune": 5, "disown": 6}
	prev := make([]byte, 32)
	for i, l := range lines {
		if l.Seq != uint64(i+1) || l.Prev != hex.EncodeToString(prev) || len(l.Seal) != 32 {
			t.Errorf("line %d is entry %d behind %s", i, l.Seq, l.Prev)
		}
		b := bytes.Clone(prev)
		for _, n := range []uint64{l.Seq, kinds[l.Kind], uint64(l.At), l.Ref, uint64(l.Duration)} {
			b = binary.BigEndian.AppendUint64(b, n)
		}
		for _, s := range []string{l.Call, l.Subject, l.Session, l.Tool, l.Box, l.Outcome, l.Run, l.Body} {
			b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
			b = append(b, s...)
		}
		hash := sha256.Sum256(b)
		if got := hex.EncodeToString(hash[:]); got != l.Hash {
			t.Errorf("entry %d: want hash %s, got %s", l.Seq, l.Hash, got)
		}
		prev = hash[:]
	}
	var out bytes.Buffer
	if err := reader(t, cfg).Export(t.Context(), &out, store.Filter{Limit: 2, Tool: "append_line"}); err != nil {
		t.Fatal(err)
	}
	some := exportLines(t, out.String())
	if len(some) != 4 {
		t.Fatalf("want two calls in four lines, got %d", len(some))
	}
	for i, l := range some {
		if l.Kind == "key" || i > 0 && l.Seq <= some[i-1].Seq || l.Hash != lines[l.Seq-1].Hash || l.Prev != lines[l.Seq-1].Prev {
			t.Errorf("line %d: %+v", i, l)
		}
	}
}

func exportLines(t testing.TB, text string) (lines []store.Line) {
	t.Helper()
	s := bufio.NewScanner(bytes.NewReader([]byte(text)))
	for s.Scan() {
		var l store.Line
		d := json.NewDecoder(bytes.NewReader(s.Bytes()))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}
