package dialect

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// The native side refuses with a code and a cause, and fails with a text. What
// follows recognises those that other systems have words of their own for;
// the tests beside it hold these texts against the real tools.

// errTold marks a refusal by an adapter whose message is, word for word, what
// the other system would answer.
var errTold = errors.New("told in the words of the dialect")

func told(code toolcrib.Code, tool, text string) *toolcrib.Error {
	return &toolcrib.Error{Code: code, Tool: tool, Message: text, Err: errTold}
}

// errTooLong marks a path that is longer than any system opens.
var errTooLong = errors.New("the path is too long")

// maxPath is the longest path the native tools take.
const maxPath = 4096

// nativePath is a path as the native tools take it. They look at "" as a
// mistake where others mean the directory itself. What no path can hold is
// refused here as what it would be there: a path that is nowhere inside.
func nativePath(tool, path string) (string, error) {
	switch {
	case path == "":
		return ".", nil
	case strings.ContainsRune(path, 0):
		return "", &toolcrib.Error{Code: toolcrib.CodeDenied, Tool: tool, Message: `"` + strings.ReplaceAll(path, "\x00", `\x00`) + `" is nowhere`, Err: files.ErrOutside}
	case len(path) > maxPath:
		return "", &toolcrib.Error{Code: toolcrib.CodeInvalid, Tool: tool, Message: "the path is longer than any system takes", Err: errTooLong}
	}
	return path, nil
}

// absolute is a path as errors of other systems show it. Links in it are not
// resolved: that is not ours to look at.
func (opt Options) absolute(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(opt.Root, path)
}

// errno is the text of the operating system for a failure of a native tool,
// as Python writes it; empty if it is no such failure.
func errno(text string) string {
	for _, known := range [][2]string{
		{"no such file or directory", "[Errno 2] No such file or directory"},
		{"the operating system does not permit it", "[Errno 13] Permission denied"},
		{"the file is marked as read-only", "[Errno 13] Permission denied"},
		{"not a directory", "[Errno 20] Not a directory"},
		{"it is not a directory", "[Errno 20] Not a directory"},
		{"it is a directory", "[Errno 21] Is a directory"},
		{"the disk is full", "[Errno 28] No space left on device"},
		{"the name is too long", "[Errno 36] File name too long"},
		{"too many links", "[Errno 40] Too many levels of symbolic links"},
	} {
		if strings.HasPrefix(text, known[0]) {
			return known[1]
		}
	}
	return ""
}

// decoded reads a JSON value of a known form. Inputs were admitted and values
// held to their contract, so what does not fit is a fault of an adapter.
func decoded[T any](text json.RawMessage) (T, error) {
	var v T
	err := json.Unmarshal(text, &v)
	return v, err
}

// worded makes the Refused of an adapter from its typed form.
func worded[T any](do func(in T, e *toolcrib.Error) *toolcrib.Result) func(json.RawMessage, *toolcrib.Error) *toolcrib.Result {
	return func(input json.RawMessage, e *toolcrib.Error) *toolcrib.Result {
		in, err := decoded[T](input)
		if err != nil {
			return nil
		}
		return do(in, e)
	}
}

// translated makes the In of an adapter from its typed form.
func translated[T any](do func(in T) (any, error)) func(json.RawMessage) (json.RawMessage, error) {
	return func(input json.RawMessage) (json.RawMessage, error) {
		in, err := decoded[T](input)
		if err != nil {
			return nil, err
		}
		native, err := do(in)
		if err != nil {
			return nil, err
		}
		return mustJSON(native), nil
	}
}

// answered makes the Out of an adapter from its typed form: out is nil if the
// native tool failed and left no value, and failed is its text then.
func answered[In, Out any](do func(in In, out *Out, failed string) (*toolcrib.Result, error)) func(json.RawMessage, *toolcrib.Result) (*toolcrib.Result, error) {
	return func(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
		in, err := decoded[In](input)
		if err != nil {
			return nil, err
		}
		if native.Failed {
			return do(in, nil, failure(native))
		}
		out, err := decoded[Out](native.Value)
		if err != nil {
			return nil, err
		}
		return do(in, &out, "")
	}
}

func value(v any) *toolcrib.Result { return &toolcrib.Result{Value: mustJSON(v)} }
