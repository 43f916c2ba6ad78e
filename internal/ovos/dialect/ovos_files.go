package dialect

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// The file tools of OpenVoiceOS answer in band: a file that is not there and a
// path that is outside are texts where the content or the message would be.
//
// What differs from the original: a file longer than one native answer comes
// back cut, with a last line that says so; a file that changed since this
// caller read it is not written over; a path in an error has no links resolved.

// ovosFiles lists the tools that read and write one file.
func ovosFiles(opt Options) []ovosTool {
	writeDoc := "Write UTF-8 text content to a file, creating parent directories as needed."
	if opt.ReadOnly {
		writeDoc = "Write UTF-8 text content to a file (currently disabled — allow_write=False)."
	}
	return []ovosTool{
		{
			box: "files", native: "read_file", name: "read_file",
			doc:  "Read the UTF-8 text content of a file.",
			args: []field{{name: "path", typ: "string", doc: "Absolute or relative path of the file to read."}},
			out: []field{
				{name: "content", typ: "string", doc: "UTF-8 text content of the file, or an error message."},
				{name: "path", typ: "string", doc: "Resolved path that was read."},
			},
			in:      translated(ovosReadIn),
			answer:  answered(opt.ovosReadOut),
			refused: worded(opt.ovosReadRefused),
		},
		{
			box: "files", native: "write_file", name: "write_file", doc: writeDoc,
			args: []field{
				{name: "path", typ: "string", doc: "Absolute or relative path to write."},
				{name: "content", typ: "string", doc: "UTF-8 text to write into the file."},
			},
			out: []field{
				{name: "success", typ: "boolean", doc: "True if the write succeeded."},
				{name: "path", typ: "string", doc: "Resolved path that was written."},
				{name: "message", typ: "string", doc: "Human-readable status message."},
			},
			in:      translated(opt.ovosWriteIn),
			answer:  answered(opt.ovosWriteOut),
			refused: worded(opt.ovosWriteRefused),
		},
	}
}

type ovosRead struct {
	Path string `json:"path"`
}

type ovosReadAnswer struct {
	Content string `json:"content"`
	Path    string `json:"path"`
}

type nativeRead struct {
	Path     string `json:"path"`
	Encoding string `json:"encoding"`
}

// ovosReadIn asks for the bytes as they are. Only they tell where a file is no
// UTF-8, and whether it begins with a mark that Python would give too.
func ovosReadIn(in ovosRead) (any, error) {
	path, err := nativePath("read_file", in.Path)
	return nativeRead{path, "base64"}, err
}

type nativeReadOut struct {
	Path      string `json:"path"`
	Content   string `json:"content"`
	SizeBytes int64  `json:"size_bytes"`
	Truncated bool   `json:"truncated"`
}

func (opt Options) ovosReadOut(in ovosRead, out *nativeReadOut, failed string) (*toolcrib.Result, error) {
	if out == nil {
		return value(ovosReadAnswer{"Error reading file: " + opt.osError(failed, in.Path), opt.absolute(in.Path)}), nil
	}
	data, err := base64.StdEncoding.DecodeString(out.Content)
	if err != nil { // a secret was taken out of the bytes, and what is left are none
		return value(ovosReadAnswer{"Error reading file: it holds a secret, and cannot be shown without it.", out.Path}), nil //nolint:nilerr // the answer is in band
	}
	if out.Truncated {
		data = wholeRunes(data)
	}
	if bad := undecodable(data); bad != "" {
		return value(ovosReadAnswer{"Error reading file: " + bad, out.Path}), nil
	}
	text := newlines(string(data))
	if out.Truncated {
		text += fmt.Sprintf("\n... (truncated: one answer holds the first %d of %d bytes)", len(data), out.SizeBytes)
	}
	return value(ovosReadAnswer{text, out.Path}), nil
}

func (opt Options) ovosReadRefused(in ovosRead, e *toolcrib.Error) *toolcrib.Result {
	if errors.Is(e, errTooLong) {
		return value(ovosReadAnswer{"Error reading file: " + opt.osError("the name is too long", in.Path), opt.absolute(in.Path)})
	}
	if denied := accessDenied(in.Path, e); denied != "" {
		return value(ovosReadAnswer{denied, in.Path})
	}
	return nil
}

// accessDenied words the refusal of a path; empty if it was refused otherwise.
func accessDenied(path string, e *toolcrib.Error) string {
	switch {
	case errors.Is(e, files.ErrOutside):
		return "Access denied: path '" + path + "' is outside the sandbox root."
	case errors.Is(e, files.ErrProtected):
		return "Access denied: path '" + path + "' is protected."
	}
	return ""
}

// osError is the failure of a native tool as Python says it.
func (opt Options) osError(failed, path string) string {
	if no := errno(failed); no != "" {
		return no + ": " + repr(opt.absolute(path))
	}
	return failed
}

type ovosWrite struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type ovosWriteAnswer struct {
	Success bool   `json:"success"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

func (opt Options) ovosWriteIn(in ovosWrite) (any, error) {
	if opt.ReadOnly { // comes before every look at the path
		return nil, &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: "write_file", Message: "no directory is granted for writing", Err: files.ErrReadOnly}
	}
	path, err := nativePath("write_file", in.Path)
	return ovosWrite{path, in.Content}, err
}

type nativeWriteOut struct {
	Path string `json:"path"`
}

func (opt Options) ovosWriteOut(in ovosWrite, out *nativeWriteOut, failed string) (*toolcrib.Result, error) {
	if out != nil {
		return value(ovosWriteAnswer{true, out.Path, "File written successfully."}), nil
	}
	return value(ovosWriteAnswer{false, in.Path, "Error writing file: " + opt.writing(failed, in.Path)}), nil
}

// writing is why a file was not written, as Python says it. Who writes there makes
// the directory first, and finds a file in its place.
func (opt Options) writing(failed, path string) string {
	if errno(failed) == errno("not a directory") {
		return "[Errno 17] File exists: " + repr(filepath.Dir(opt.absolute(path)))
	}
	return opt.osError(failed, path)
}

func (opt Options) ovosWriteRefused(in ovosWrite, e *toolcrib.Error) *toolcrib.Result {
	switch {
	case errors.Is(e, files.ErrReadOnly):
		return value(ovosWriteAnswer{false, in.Path, "Write access is disabled (allow_write=False)."})
	case errors.Is(e, errTooLong):
		return value(ovosWriteAnswer{false, in.Path, "Error writing file: " + opt.osError("the name is too long", in.Path)})
	}
	if denied := accessDenied(in.Path, e); denied != "" {
		return value(ovosWriteAnswer{false, in.Path, denied})
	}
	return nil
}
