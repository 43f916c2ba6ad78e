package ovosbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

// remote is a toolbox as its host announced it.
type remote struct {
	id      string
	claims  []claimedTool  // by name, each once
	known   map[string]int // where a name stands in claims, once it was announced twice
	tagged  bool           // every tool says whose it is: a host of the coming generation
	static  bool           // it is called by the topic that all toolboxes share
	primed  bool           // it was called once, because hosts of old announce nothing before
	doubted bool           // a call of it was not answered
	missed  int            // how often in a row it did not answer
	faults  []toolcrib.LoadError
}

// claimedTool is a tool as its host describes it.
type claimedTool struct {
	name, doc     string
	input, output json.RawMessage
	timeout       bool // it takes a timeout, in seconds
}

// Bounds on what a host may call things.
const (
	maxID  = 128
	maxDoc = 8 << 10
)

// announcement is the data of an answer to a discovery.
type announcement struct {
	ID    json.RawMessage   `json:"toolbox_id"`
	Tools []json.RawMessage `json:"tools"`
}

// announcedBy is the id of the toolbox that an answer to a discovery is of.
func announcedBy(data json.RawMessage) (string, error) {
	var a struct {
		ID json.RawMessage `json:"toolbox_id"`
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return "", err
	}
	return identifier(a.ID)
}

// identifier reads the id of a toolbox or the name of a tool.
func identifier(raw json.RawMessage) (string, error) {
	var id string
	if err := json.Unmarshal(raw, &id); err != nil || len(raw) == 0 {
		return "", errors.New("is not a text")
	}
	switch {
	case strings.TrimSpace(id) == "":
		return "", errors.New("is empty")
	case len(id) > maxID:
		return "", fmt.Errorf("is longer than %d bytes", maxID)
	case visible(id) != id || strings.ContainsAny(id, "\n\t") || strings.ContainsRune(id, utf8.RuneError):
		return "", errors.New("holds what cannot be seen")
	}
	return id, nil
}

// parseAnnouncement reads an answer to a discovery. What is wrong with a tool
// leaves out that tool; what is wrong with the whole is an error.
func (c Config) parseAnnouncement(data json.RawMessage) (*remote, error) {
	var a announcement
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, errors.New("its announcement is not in the known form")
	}
	id, err := identifier(a.ID)
	if err != nil {
		return nil, fmt.Errorf("the id of the toolbox %w", err)
	}
	r := &remote{id: id, tagged: len(a.Tools) > 0}
	at := map[string]int{}
	for i, raw := range a.Tools {
		if i >= c.MaxTools {
			r.fault(c.Name, "", fmt.Errorf("it announces %d tools; only the first %d are looked at", len(a.Tools), c.MaxTools))
			break
		}
		tool, tagged, err := c.parseClaim(raw, id)
		if err != nil {
			r.fault(c.Name, fmt.Sprintf("%d", i+1), err)
			continue
		}
		r.tagged = r.tagged && tagged
		if j, twice := at[tool.name]; twice { // hosts keep the last
			r.claims[j] = tool
			continue
		}
		at[tool.name] = len(r.claims)
		r.claims = append(r.claims, tool)
	}
	return r, nil
}

// fault notes what is left out of a toolbox.
func (r *remote) fault(box, tool string, err error) {
	r.faults = append(r.faults, toolcrib.LoadError{Box: box, Tool: strings.TrimSuffix(r.id+"/"+tool, "/"), Err: err})
}

// parseClaim reads one tool of an announcement.
func (c Config) parseClaim(raw json.RawMessage, id string) (tool claimedTool, tagged bool, err error) {
	var entry struct {
		Name        json.RawMessage `json:"name"`
		Description any             `json:"description"`
		Arguments   json.RawMessage `json:"argument_schema"`
		Output      json.RawMessage `json:"output_schema"`
		ID          any             `json:"toolbox_id"`
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return claimedTool{}, false, errors.New("the tool is not described in the known form")
	}
	if tool.name, err = identifier(entry.Name); err != nil {
		return claimedTool{}, false, fmt.Errorf("the name of the tool %w", err)
	}
	owner, tagged := entry.ID.(string)
	if tagged && owner != id {
		return claimedTool{}, false, fmt.Errorf("the tool %q is said to be of another toolbox", tool.name)
	}
	doc, _ := entry.Description.(string) // anything else tells nobody anything
	if tool.doc = strings.TrimSpace(text.Clip(visible(doc), maxDoc)); tool.doc == "" {
		tool.doc = fmt.Sprintf("The tool %s of the toolbox %s on an OpenVoiceOS bus. Its host does not say what it does.", tool.name, id)
	}
	if tool.input, err = c.inputSchema(entry.Arguments); err != nil {
		return claimedTool{}, false, fmt.Errorf("the arguments of the tool %q: %w", tool.name, err)
	}
	if tool.output, err = c.outputSchema(entry.Output); err != nil {
		return claimedTool{}, false, fmt.Errorf("the output of the tool %q: %w", tool.name, err)
	}
	tool.timeout = takesTimeout(tool.input)
	return tool, tagged, nil
}

// visible is a text with plain spaces, in which what cannot be seen is written
// out: it is put before models and on terminals.
func visible(s string) string {
	// Private and unassigned characters mean something to nobody but their maker.
	odd := func(r rune) bool { return !unicode.IsPrint(r) && !unicode.IsSpace(r) && !text.Invisible(r) }
	return text.Escape(text.ShowForeign(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, s)), odd, text.Code)
}
