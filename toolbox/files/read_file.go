package files

import (
	"context"
	_ "embed" // the description
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

//go:embed read_file.md
var readFileText string

type readIn struct {
	Path      string `json:"path" minlen:"1" maxlen:"4096" doc:"The file: relative to the working directory, or absolute inside a granted one."`
	StartLine int    `json:"start_line,omitempty" min:"1" doc:"First line to read, counted from 1. Left out: the first."`
	EndLine   int    `json:"end_line,omitempty" min:"1" doc:"Last line to read. Left out: as far as one answer goes."`
	Encoding  string `json:"encoding,omitempty" enum:"auto,utf-8,utf-16le,utf-16be,latin-1,base64" doc:"How to read the bytes. auto, also if left out, goes by the byte order mark and the content; base64 gives the bytes of any file as they are."`
}

func (in *readIn) auto() bool { return in.Encoding == "" || in.Encoding == encAuto }

type readOut struct {
	Path       string `json:"path" doc:"Absolute path of the file, after links."`
	Content    string `json:"content" doc:"The lines, with their line ends as they are in the file."`
	Lines      int    `json:"lines" doc:"How many lines the content has."`
	TotalLines int    `json:"total_lines" doc:"How many lines the file has; 0 if it is no text."`
	SizeBytes  int64  `json:"size_bytes" doc:"Size of the file in bytes."`
	Truncated  bool   `json:"truncated" doc:"There is more of what was asked for; the note says how to get it."`
	Encoding   string `json:"encoding" doc:"How the bytes were read; binary if they are no text."`
	Note       string `json:"note,omitempty" doc:"What else there is to know."`
}

func (b *Box) readFile() toolcrib.Tool {
	return withContent(toolcrib.Spec{
		Name: "read_file", Title: "Read a file", Description: readFileText,
		Effects: toolcrib.Reads, Idempotent: true, Group: groupFS,
	}, func(ctx context.Context, env *toolcrib.Env, in readIn) (readOut, []toolcrib.Content, error) {
		files, err := granted(env)
		if err != nil {
			return readOut{}, nil, err
		}
		out, content, err := b.read(ctx, env, files, in)
		if errors.Is(err, fs.ErrNotExist) {
			if path, perr := files.Real(in.Path); perr == nil {
				b.seen.drop(keyFor(env, path)) // it is known to be gone now
			}
		}
		return out, content, err
	})
}

func (b *Box) read(ctx context.Context, env *toolcrib.Env, files *files.Handle, in readIn) (out readOut, content []toolcrib.Content, err error) {
	if in.EndLine != 0 && in.EndLine < max(in.StartLine, 1) {
		return out, nil, fmt.Errorf("end_line %d is before start_line %d", in.EndLine, max(in.StartLine, 1))
	}
	path, err := files.Real(in.Path)
	if err != nil {
		return out, nil, err
	}
	if err := b.sameText(files, in); err != nil {
		return out, nil, err
	}
	file, info, err := files.Open(in.Path)
	if err != nil {
		return out, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r, err := newPager(ctx, file)
	if err != nil {
		return out, nil, err
	}
	out = readOut{Path: path, SizeBytes: info.Size(), Encoding: in.Encoding}
	if in.auto() {
		out.Encoding = guess(r.head)
	}
	switch mime := image(r.head); {
	case out.Encoding == encBase64:
		err = b.readBase64(r, &out)
	case mime != "" && in.auto():
		content, err = b.readImage(r, &out, mime)
	case out.Encoding == encBinary:
		out.Note = "this is a binary file; encoding base64 gives its bytes"
		_, err = r.take(0)
	case out.Encoding == encUTF16LE || out.Encoding == encUTF16BE:
		err = b.readUTF16(r, &out, in)
	default:
		err = b.readLines(r, &out, in)
	}
	if err == nil {
		b.seen.put(keyFor(env, path), knownFile{r.stamp(info.ModTime()), true})
	}
	return out, content, err
}

func (b *Box) readBase64(r *pager, out *readOut) error {
	data, err := r.take(b.cfg.MaxRead * 3 / 4)
	out.Content = base64.StdEncoding.EncodeToString(data)
	if out.Truncated = int64(len(data)) < r.size; out.Truncated {
		out.Note = fmt.Sprintf("the first %d bytes; more cannot be read as base64", len(data))
	}
	return err
}

func (b *Box) readImage(r *pager, out *readOut, mime string) ([]toolcrib.Content, error) {
	out.Encoding = encBinary
	data, err := r.take(b.cfg.MaxImage)
	if err != nil {
		return nil, err
	}
	if r.size > b.cfg.MaxImage {
		out.Truncated = true
		out.Note = "this is an image (" + mime + "), too large to be shown"
		return nil, nil
	}
	switch hides, err := b.hides(data); {
	case err != nil:
		return nil, err
	case hides:
		out.Note = "this file begins like an image (" + mime + "), and holds values that are hidden; it is not shown"
		return nil, nil
	}
	out.Note = "this is an image (" + mime + "), shown beside this answer"
	return []toolcrib.Content{{Type: "image", Data: data, MIME: mime, Name: out.Path}}, nil
}

// readUTF16 reads the whole file, because lines are found after decoding only.
func (b *Box) readUTF16(r *pager, out *readOut, in readIn) error {
	data, err := r.take(b.cfg.MaxEdit)
	if err != nil {
		return err
	}
	if r.size > b.cfg.MaxEdit {
		return fmt.Errorf("the file is larger than %d bytes, the limit for this encoding", b.cfg.MaxEdit)
	}
	p := newPage(in, b.cfg.MaxRead)
	text := decode(data, out.Encoding)
	if b.cfg.Hide == nil {
		p.add([]byte(text))
	} else if err := b.covered(strings.NewReader(text), func() io.Reader { return strings.NewReader(text) }, p.take); err != nil {
		return err
	}
	p.fill(out, encUTF8)
	return nil
}

func (b *Box) readLines(r *pager, out *readOut, in readIn) error {
	p := newPage(in, b.cfg.MaxRead)
	if part := in.StartLine > 1 || in.EndLine > 0 || out.SizeBytes > b.cfg.MaxRead; part && b.cfg.Hide != nil {
		if err := b.covered(r, r.again, p.take); err != nil {
			return err
		}
	} else if err := r.each(p.add); err != nil {
		return err
	}
	switch {
	case !in.auto() || utf8.Valid(p.text):
		p.fill(out, out.Encoding)
	case looksLatin1(p.text):
		out.Encoding = encLatin1
		p.fill(out, encLatin1)
	default:
		p.fill(out, encUTF8)
		if out.Note != "" {
			out.Note += "; "
		}
		out.Note += "bytes that are no UTF-8 are shown as \ufffd; edit_file keeps them"
	}
	return nil
}
