package account

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/pattern"
	"github.com/toolcrib/toolcrib/internal/text"
)

// CSVColumns are the columns of a CSV, in an order that stays. New ones come at the end.
func CSVColumns() []string {
	return []string{"seq", "id", "parent", "start", "duration_ms", "subject", "agent", "session", "frontend", "client", "organisation", "tool", "native", "box", "what", "outcome", "message", "approved_by", "replay"}
}

// WriteCSV writes records as CSV, with a line of names if head is set.
func WriteCSV(w io.Writer, records []toolcrib.Record, head bool) error {
	out := csv.NewWriter(w)
	if head {
		if err := out.Write(CSVColumns()); err != nil {
			return err
		}
	}
	for _, r := range records {
		row := []string{
			strconv.FormatUint(r.Seq, 10), r.ID, r.Parent, r.Start.UTC().Format(time.RFC3339Nano), strconv.FormatFloat(float64(r.Duration)/1e6, 'f', -1, 64),
			r.Caller.Subject, r.Caller.Agent, r.Caller.Session, r.Caller.Frontend, r.Caller.Client, r.Caller.Organisation,
			r.Tool, r.Native, r.Box, What(r), string(r.Outcome), r.Message, r.ApprovedBy, r.Replay,
		}
		for i, cell := range row {
			row[i] = harmless(cell)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteCounts writes counts as CSV.
func WriteCounts(w io.Writer, by string, counts []Count) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{by, "calls"}); err != nil {
		return err
	}
	for _, c := range counts {
		if err := out.Write([]string{harmless(c.Name), strconv.Itoa(c.N)}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// formulas finds the beginning of a formula behind a semicolon, at which spreadsheets in
// many languages begin a cell, whether it is in quotes or not.
var formulas = pattern.Of(`(;[\s\x{a0}"]*)([=+\-@|%＝＋－＠])`)

// harmless keeps a spreadsheet from taking a text for a formula: it stands behind an
// apostrophe then, which spreadsheets do not show. No column of numbers is ever negative.
func harmless(cell string) string {
	cell = formulas.Regexp().ReplaceAllString(text.ShowLine(cell), "$1'$2")
	if trimmed := strings.TrimLeft(cell, " \u00a0"); trimmed != "" && strings.ContainsRune("=+-@|%＝＋－＠", []rune(trimmed)[0]) {
		return "'" + cell
	}
	return cell
}

// WriteLines writes records as JSON, one to a line, each with what it was about.
func WriteLines(w io.Writer, records []toolcrib.Record) error {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	for _, r := range records {
		line.Reset()
		if err := enc.Encode(struct {
			toolcrib.Record
			What string `json:"what,omitempty"`
		}{r, What(r)}); err != nil {
			return err
		}
		// It may go to a terminal, and is the same JSON.
		if _, err := io.WriteString(w, text.ShowJSON(line.String())); err != nil {
			return err
		}
	}
	return nil
}
