package artifact

import (
	"context"
	_ "embed" // the description
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

//go:embed read_artifact.md
var readArtifactText string

type readIn struct {
	ID     string `json:"id" minlen:"1" maxlen:"64" doc:"The artifact, as the shortened result names it."`
	Offset int64  `json:"offset,omitempty" default:"0" min:"0" doc:"The byte to begin at."`
	Limit  int    `json:"limit,omitempty" default:"32768" min:"1" max:"1048576" doc:"At most so many bytes; a page may have fewer."`
}

type readOut struct {
	ID    string `json:"id" doc:"The artifact."`
	Text  string `json:"text" doc:"The part that was asked for."`
	Next  int64  `json:"next" doc:"The offset at which to go on."`
	Total int64  `json:"total" doc:"How many bytes it has."`
}

func (b box) readArtifact() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "read_artifact", Title: "Read on in a long result", Description: readArtifactText,
		Effects: toolcrib.Reads, Group: "meta",
	}, func(_ context.Context, env *toolcrib.Env, in readIn) (readOut, error) {
		part, total, err := b.read(env.Call.Caller, in.ID, in.Offset, min(in.Limit, b.page))
		if err != nil {
			return readOut{}, err
		}
		if in.Offset > total {
			return readOut{}, fmt.Errorf("it has %d bytes, and none at offset %d", total, in.Offset)
		}
		if in.Offset+int64(len(part)) < total {
			part = whole(part)
		}
		text, size := b.fit(part)
		return readOut{ID: in.ID, Text: text, Next: in.Offset + int64(size), Total: total}, nil
	})
}

// around is what an answer has besides its text.
const around = 512

// fit gives as much of a part as a page has room for once it is JSON, and how
// many bytes of the part that is. What is no letter is shown as one that says so.
func (b box) fit(part []byte) (text string, size int) {
	for {
		text = strings.ToValidUTF8(string(part), "\uFFFD")
		quoted, err := json.Marshal(text)
		room := b.page - around
		if err != nil || len(quoted) <= room || len(part) == 0 {
			return text, len(part)
		}
		part = whole(part[:min(len(part)-1, len(part)*room/len(quoted))])
	}
}

// whole leaves out a letter at the end that is not there in full, unless there
// is nothing else.
func whole(part []byte) []byte {
	for i := 1; i < min(utf8.UTFMax, len(part)); i++ {
		if utf8.RuneStart(part[len(part)-i]) {
			if !utf8.FullRune(part[len(part)-i:]) {
				return part[:len(part)-i]
			}
			break
		}
	}
	return part
}
