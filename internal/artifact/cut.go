package artifact

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib"
)

// Cutter is the vetter that cuts long results to size: the text of one, and
// its value, each to Size bytes. It keeps beginning and end of a long text and
// leaves out the middle; what is left out can be paged through. It comes last
// of the vetters: what it keeps has been looked over by the others.
//
// A value keeps its shape. Its long strings are cut as texts are, which is
// enough for nearly every one; of a list that is too long the first elements
// stay. That is so because clients hand the value to models as well as the
// text, so that leaving it whole would be no bound at all. Who needs all of it
// is a program: calls that a tool makes of another are not cut, nor are those
// that Whole says.
type Cutter struct {
	Size int // default 100 KB
	// Keep takes what is cut; nil: it is lost. Reader is the tool that pages
	// through it.
	Keep   func(caller toolcrib.Caller, text []byte) (id string, err error)
	Reader string
	Whole  func(toolcrib.Call) bool // nil: none
	Log    *slog.Logger             // nil: silent
}

var _ toolcrib.Vetter = (*Cutter)(nil)

const (
	defaultSize = 100_000
	minSize     = 4096 // less would be all markers
	// maxPieces bounds how many artifacts one result makes.
	maxPieces = 8
)

// Vet gives the result, or a copy that is cut.
func (c *Cutter) Vet(_ context.Context, r toolcrib.Review, result *toolcrib.Result) (*toolcrib.Result, error) {
	size := c.Size
	if size <= 0 {
		size = defaultSize
	}
	size = max(size, minSize)
	text := 0
	for i := range result.Content {
		text += len(result.Content[i].Text)
	}
	if text <= size && len(result.Value) <= size || r.Call.Parent != "" || c.Whole != nil && c.Whole(r.Call) {
		return result, nil
	}
	w := &resultCutter{Cutter: c, call: r.Call}
	cut := *result
	if text > size {
		cut.Content = w.contents(result.Content, size)
	}
	if len(result.Value) > size {
		w.value(&cut, size)
	}
	return &cut, nil
}

// resultCutter is the cutting of one result.
type resultCutter struct {
	*Cutter
	call   toolcrib.Call
	pieces int
}

// storeText gives the ID of a text that was kept, empty if it was not.
func (w *resultCutter) storeText(text string) string {
	if w.Keep == nil || w.pieces >= maxPieces {
		return ""
	}
	w.pieces++
	id, err := w.Keep(w.call.Caller, []byte(text))
	if err != nil {
		if w.Log != nil {
			w.Log.Warn("what was cut from a result is not kept", "tool", w.call.Tool, "call", w.call.ID, "bytes", len(text), "err", err)
		}
		return ""
	}
	return id
}

// contents cuts the texts among contents so that they have room together.
func (w *resultCutter) contents(given []toolcrib.Content, size int) []toolcrib.Content {
	var lengths []int
	for i := range given {
		if n := len(given[i].Text); n > 0 {
			lengths = append(lengths, n)
		}
	}
	if len(lengths) > maxPieces {
		return w.joined(given, size)
	}
	level := waterLevel(lengths, size)
	out := slices.Clone(given)
	for i := range out {
		if len(out[i].Text) > level {
			out[i].Text = w.text(out[i].Text, level)
		}
	}
	return out
}

// joined makes one text of many and cuts that: so many small pieces would be
// nothing but markers.
func (w *resultCutter) joined(given []toolcrib.Content, size int) []toolcrib.Content {
	var all strings.Builder
	out := make([]toolcrib.Content, 1, len(given))
	for _, c := range given {
		if c.Text == "" {
			out = append(out, c)
			continue
		}
		if all.Len() > 0 {
			all.WriteByte('\n')
		}
		all.WriteString(c.Text)
	}
	out[0] = toolcrib.Content{Type: "text", Text: w.text(all.String(), size)}
	return out
}

// text keeps a text and cuts it to size.
func (w *resultCutter) text(text string, size int) string {
	return cutText(text, size, w.storeWithMarker(text))
}

// storeWithMarker keeps a text and gives the marker to put where it is cut.
func (w *resultCutter) storeWithMarker(text string) func(left, offset int) string {
	id := w.storeText(text)
	return func(left, offset int) string { return w.marker(id, left, offset) }
}

func (w *resultCutter) marker(id string, left, offset int) string {
	if id == "" {
		return fmt.Sprintf("[… %d bytes left out; they are not kept …]", left)
	}
	return fmt.Sprintf(`[… %d bytes left out; %s {"id":%q,"offset":%d} reads on …]`, left, w.Reader, id, offset)
}

// value cuts the value of a result. Where its shape could not be kept it says
// so in a text, for there is no place in the value for that.
func (w *resultCutter) value(r *toolcrib.Result, size int) {
	s := newShrinker(string(r.Value), w)
	if s == nil {
		var raw bytes.Buffer
		if err := json.Compact(&raw, r.Value); err != nil {
			r.Value = nil // it is no JSON: the crib would refuse it
			r.Content = append(slices.Clone(r.Content), note("the value was left out: it is too long and cannot be read"))
			return
		}
		if raw.Len() <= size { // it was blanks
			r.Value = raw.Bytes()
			return
		}
		s = newShrinker(raw.String(), w)
	}
	small := s.shrink(size)
	told := ""
	switch {
	case small == nil:
		told = "the value was left out, since it is too long and cannot be cut"
	case s.dropped > 0:
		told = "the value is shortened: parts of its lists were left out"
	default:
		r.Value = small
		return
	}
	w.pieces = min(w.pieces, maxPieces-1) // this one is owed
	if id := w.storeText(indented(s.raw)); id != "" {
		told += fmt.Sprintf(`; %s {"id":%q} pages through all of it, %d bytes before it was laid out`, w.Reader, id, len(s.raw))
	}
	r.Value = small
	if len(r.Content) == 0 && small != nil { // who only reads text would miss the value
		r.Content = []toolcrib.Content{{Type: "text", Text: string(small)}}
	}
	r.Content = append(slices.Clone(r.Content), note(told))
}

func note(text string) toolcrib.Content {
	return toolcrib.Content{Type: "text", Text: "[… " + text + " …]"}
}

// indented lays JSON out in lines, so that a page of it can be read: each
// element of the three outer levels has one. What is deeper stays on its line.
func indented(text string) string {
	var out strings.Builder
	out.Grow(len(text) + len(text)/16)
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			continue
		case ',':
		default:
			continue
		}
		if depth <= 3 {
			out.WriteString(text[from : i+1])
			out.WriteByte('\n')
			from = i + 1
		}
	}
	out.WriteString(text[from:])
	return out.String()
}

// waterLevel is the largest length to which all can be cut so that they have
// room together: what is shorter stays whole.
func waterLevel(lengths []int, room int) int {
	sorted := slices.Sorted(slices.Values(lengths))
	for i, n := range sorted {
		if share := room / (len(sorted) - i); n > share {
			return max(0, share)
		}
		room -= n
	}
	if len(sorted) == 0 {
		return max(0, room)
	}
	return sorted[len(sorted)-1] // all of them have room
}
