package files

import (
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// AsCall gives the call of this box that makes the same change as a program did on
// its layer, so that rules and guards judge both alike. A directory counts as a file
// of that name, and bytes that are no text as signs for them.
func AsCall(c toolcrib.Change, content []byte) (box, tool string, input json.RawMessage, err error) {
	if c.After == nil {
		input, err = jsontext.Marshal(deleteIn{Path: c.Path})
		return "files", "delete_file", input, err
	}
	in := writeIn{Path: c.Path}
	switch {
	case c.After.Mode()&fs.ModeSymlink != 0:
		in.Content = c.Target
	default:
		in.Content = strings.ToValidUTF8(string(content), "\ufffd")
	}
	input, err = jsontext.Marshal(in) // what < and the like are written as is read again by each guard
	return "files", "write_file", input, err
}
