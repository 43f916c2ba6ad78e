package store

import (
	"bufio"
	"context"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Line is one entry as it is exported. Hash is
//
//	SHA-256(prev ‖ seq ‖ kind ‖ at ‖ ref ‖ duration ‖ texts)
//
// with prev as 32 bytes, numbers as 8 bytes, most significant first, and the
// texts call, subject, session, tool, box, outcome, run, body, each behind its
// length in bytes as 4 bytes. Body is a string so that its bytes are certain.
// Seal is the first 16 bytes of an HMAC-SHA256 over the same with the entry's
// own hash for prev, under a secret that is not exported.
type Line struct {
	Seq      uint64 `json:"seq"`
	Kind     string `json:"kind"`  // begin, end, interrupted, key, prune, disown: hashed as 1 to 6
	Time     string `json:"time"`  // RFC 3339, for people
	At       int64  `json:"at_ns"` // since 1970
	Ref      uint64 `json:"ref"`   // the begin that is closed
	Duration int64  `json:"duration_ns"`
	Call     string `json:"call"`
	Subject  string `json:"subject"`
	Session  string `json:"session"`
	Tool     string `json:"tool"`
	Box      string `json:"box"`
	Outcome  string `json:"outcome"`
	Run      string `json:"run"`
	Body     string `json:"body"` // JSON
	Prev     string `json:"prev"` // hex
	Hash     string `json:"hash"` // hex
	Seal     string `json:"seal"` // hex
}

func exportLine(e *entry, prev string) Line {
	return Line{
		Seq: e.seq, Kind: e.kind.String(), Time: time.Unix(0, e.at).UTC().Format(time.RFC3339Nano), At: e.at,
		Ref: e.ref, Duration: e.duration, Call: e.call, Subject: e.subject, Session: e.session, Tool: e.tool,
		Box: e.box, Outcome: e.outcome, Run: e.run, Body: string(e.body), Prev: prev, Hash: hex.EncodeToString(e.hash[:]),
		Seal: hex.EncodeToString(e.seal),
	}
}

// Export writes the entries of the chosen calls as JSON lines, oldest first.
// Without a filter these are all entries, each with the hash it has and the
// one it builds on, so that the file can be checked where there is no
// database. Limit keeps the newest.
func (r *Reader) Export(ctx context.Context, w io.Writer, f Filter) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	only, err := r.chosen(ctx, f)
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	query, args := exportQuery(f)
	err = r.each(ctx, query, args, func(v []driver.Value) error {
		var e entry
		if err := e.scan(v[:columnCount]); err != nil {
			return err
		}
		if only != nil && !only[e.seq] && !only[e.ref] {
			return nil
		}
		prev, _ := v[columnCount].([]byte) // of the first entry there is none
		if prev == nil && e.seq == 1 {
			prev = make([]byte, len(e.hash))
		}
		return enc.Encode(exportLine(&e, hex.EncodeToString(prev)))
	})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("exporting: %w", err)
	}
	return nil
}

// chosen gives the begins that only their bodies tell; nil: the database can
// choose alone.
func (r *Reader) chosen(ctx context.Context, f Filter) (map[uint64]bool, error) {
	if !f.inBody() {
		return nil, nil
	}
	list, err := r.List(ctx, f)
	if err != nil {
		return nil, err
	}
	only := make(map[uint64]bool, len(list))
	for _, rec := range list {
		only[rec.Seq] = true
	}
	return only, nil
}

// exportQuery selects entries and the hash before each.
func exportQuery(f Filter) (string, []any) {
	query := `SELECT ` + columns + `, (SELECT p.hash FROM entry p WHERE p.seq = e.seq - 1) FROM entry e`
	if f == (Filter{}) {
		return query + ` ORDER BY seq`, nil
	}
	where, args := f.where()
	chosen := `SELECT b.seq AS b, c.seq AS c` + begins + where
	if f.Limit > 0 && !f.inBody() {
		args = append(args, f.Limit)
		chosen += fmt.Sprintf(` ORDER BY b.seq DESC LIMIT $%d`, len(args))
	}
	return `WITH chosen AS (` + chosen + `) ` + query +
		` WHERE seq IN (SELECT b FROM chosen UNION ALL SELECT c FROM chosen WHERE c IS NOT NULL) ORDER BY seq`, args
}
