package code

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/schema"
)

// The bounds of one answer.
const (
	maxShown  = 64 << 10 // bytes of text, of JSON, of tables
	maxImages = 8
	maxImage  = 8 << 20
	maxListed = 200
)

// answer makes the result of a cell. Nothing in the frames is believed to be what drivers send: code can write them too.
func (r cellResult) answer(s *session, most time.Duration) (runOut, []toolcrib.Content) {
	out := runOut{Status: "ok", Output: r.output}
	var images []toolcrib.Content
	var shown []string
	tables := 0
	for _, f := range r.frames {
		switch f.kind {
		case "text":
			shown = append(shown, strings.ToValidUTF8(string(f.data), "\uFFFD"))
		case "json":
			if plainJSON(f.data) {
				out.Value = f.data
			}
		case "table":
			var t table
			if plainJSON(f.data) && json.Unmarshal(f.data, &t) == nil && tables+len(f.data) <= maxShown {
				tables += len(f.data)
				out.Tables = append(out.Tables, t)
			}
		case "png":
			if len(images) < maxImages && len(f.data) <= maxImage && strings.HasPrefix(string(f.data), "\x89PNG\r\n\x1a\n") {
				images = append(images, toolcrib.Content{Type: "image", MIME: "image/png", Data: f.data})
			} else {
				r.dropped++
			}
		case "error":
			out.Error = cut(strings.ToValidUTF8(string(f.data), "\uFFFD"), maxShown)
		case "files":
			out.Files = listed(f.data)
		case "note":
			out.Notes = append(out.Notes, cut(strings.ToValidUTF8(string(f.data), "\uFFFD"), 500))
		case "left":
			r.dropped++
		}
	}
	out.Text, out.Images = cut(strings.Join(shown, "\n"), maxShown), len(images)
	if r.dropped > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("%d more values or images were shown and are left out", r.dropped))
	}
	r.conclude(s, most, &out)
	return out, images
}

// conclude says how the cell ended.
func (r cellResult) conclude(s *session, most time.Duration, out *runOut) {
	switch r.status {
	case "error":
		out.Status = "error"
	case "interrupted":
		out.Status = "interrupted"
	}
	why := ""
	switch r.end {
	case tooLong:
		why = fmt.Sprintf("it took longer than %s", most)
	case flooded:
		why = fmt.Sprintf("it printed more than %d MiB", s.out.flood>>20)
	}
	switch {
	case !r.lost && why != "" && r.status == "ok":
		out.Notes = append(out.Notes, why+"; it came to its end by itself while it was interrupted")
	case !r.lost && why != "":
		out.Status, out.Error = "interrupted", why+" and was interrupted. The session is kept."
		if s.language == "shell" {
			out.Error = why + " and was interrupted. The session is kept as it was before this cell; files stay as they are."
		}
	case !r.lost:
	case why != "":
		out.Status, out.Error = "lost", why+" and could not be interrupted, so its interpreter was ended. "+lostText
	case r.end == confused:
		out.Status, out.Error = "lost", "the code wrote into the pipe of its driver, so its interpreter was ended. "+lostText
	case s.err != nil:
		out.Status, out.Error = "lost", "the interpreter has ended: "+s.err.Error()+". "+lostText
	default:
		out.Status, out.Error = "lost", "the interpreter has ended ("+how(s.exit)+"). "+lostText
		if s.exit.Signal == "SIGKILL" {
			out.Error += " It may have used more memory than it may."
		}
	}
	if r.lost && !s.alive() {
		out.Notes = append(out.Notes, s.exit.Notes...)
	}
}

const lostText = "The session is lost, with its variables and files; the next call begins with nothing."

// plainJSON: readers cannot understand it in two ways.
func plainJSON(data []byte) bool {
	doc, err := schema.Parse(data, schema.Limits{Bytes: maxShown})
	if err != nil {
		return false
	}
	doc.Release()
	return true
}

// listed reads the files that a driver tells of.
func listed(data []byte) []outFile {
	var all []outFile
	if len(data) > 1<<20 || json.Unmarshal(data, &all) != nil {
		return nil
	}
	var out []outFile
	for _, f := range all {
		if len(out) < maxListed && cleanName(f.Name) && f.Size >= 0 {
			out = append(out, f)
		}
	}
	return out
}

// told is the result as people and models read it.
func (o *runOut) told() string {
	var parts []string
	add := func(text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			parts = append(parts, text)
		}
	}
	add(o.Output)
	add(o.Text)
	add(o.Error)
	if len(o.Files) > 0 {
		var names []string
		for i, f := range o.Files {
			if i == 20 {
				names = append(names, fmt.Sprintf("and %d more", len(o.Files)-i))
				break
			}
			names = append(names, fmt.Sprintf("%s (%d bytes)", f.Name, f.Size))
		}
		add("[files in the session: " + strings.Join(names, ", ") + "]")
	}
	for _, f := range o.Saved {
		if f.Error != "" {
			add("[" + f.Name + " was not saved: " + f.Error + "]")
		} else {
			add("[saved " + f.Name + " as " + f.Path + "]")
		}
	}
	for _, n := range o.Notes {
		add("[" + n + "]")
	}
	if len(parts) == 0 {
		return "[the cell ran and showed nothing]"
	}
	return strings.Join(parts, "\n")
}

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "\n[the rest is left out]"
}
