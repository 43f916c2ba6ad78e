package files

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"os"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/files"
)

// pager reads a file once, to its end, whatever part of it is shown: the
// stamp is of all of it.
type pager struct {
	ctx  context.Context
	file *os.File
	head []byte // the first bytes, read already
	sum  hash.Hash
	size int64
}

func newPager(ctx context.Context, file *os.File) (*pager, error) {
	r := &pager{ctx: ctx, file: file, head: make([]byte, 8<<10), sum: sha256.New()}
	n, err := io.ReadFull(file, r.head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	r.head = r.head[:n]
	return r, nil
}

// Read gives the file from its beginning, as each does.
func (r *pager) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if r.size < int64(len(r.head)) {
		n := copy(p, r.head[r.size:])
		r.sum.Write(p[:n])
		r.size += int64(n)
		return n, nil
	}
	n, err := r.file.Read(p)
	r.sum.Write(p[:n])
	r.size += int64(n)
	return n, err
}

// again reads the file once more, whatever was read of it.
func (r *pager) again() io.Reader {
	return cancellable{r.ctx, io.NewSectionReader(r.file, 0, math.MaxInt64)}
}

// each hands the whole file to a function, piece by piece.
func (r *pager) each(do func([]byte)) error {
	buf := make([]byte, 64<<10)
	for piece := r.head; ; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		r.sum.Write(piece)
		r.size += int64(len(piece))
		do(piece)
		n, err := r.file.Read(buf)
		if n == 0 && errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		piece = buf[:n]
	}
}

// take gives the first bytes of the file.
func (r *pager) take(most int64) ([]byte, error) {
	var data []byte
	err := r.each(func(piece []byte) {
		if room := most - int64(len(data)); room > 0 {
			data = append(data, piece[:min(int64(len(piece)), room)]...)
		}
	})
	return data, err
}

func (r *pager) stamp(modified time.Time) files.Stamp {
	return files.Stamp{Sum: [sha256.Size]byte(r.sum.Sum(nil)), Size: r.size, ModTime: modified}
}

// page collects the wanted lines of a text that goes by, and counts them all.
type page struct {
	first, last int // lines wanted; last 0: to the end
	most        int64
	text        []byte
	cut         bool // there was more that was wanted
	line        int  // the number of the line that the next byte belongs to
	open        bool // that line has bytes already
}

func newPage(in readIn, most int64) *page {
	return &page{first: max(in.StartLine, 1), last: in.EndLine, most: most, line: 1}
}

// take is add, for who may fail.
func (p *page) take(piece []byte) error {
	p.add(piece)
	return nil
}

func (p *page) add(piece []byte) {
	for len(piece) > 0 {
		wanted := !p.cut && p.line >= p.first && (p.last == 0 || p.line <= p.last)
		var part []byte
		switch {
		case wanted:
			part = firstLines(piece, 1)
			if int64(len(p.text)+len(part)) > p.most {
				p.overflow(part)
				continue
			}
			p.text = append(p.text, part...)
		case p.line < p.first:
			part = firstLines(piece, p.first-p.line)
		default:
			part = piece
		}
		p.line += bytes.Count(part, []byte{'\n'})
		p.open = part[len(part)-1] != '\n'
		piece = piece[len(part):]
	}
}

// overflow ends the page: after the last whole line if there is one, else in
// the middle of the first, but not of a character.
func (p *page) overflow(line []byte) {
	p.cut = true
	if end := bytes.LastIndexByte(p.text, '\n') + 1; end > 0 {
		p.text = p.text[:end]
		return
	}
	p.text = append(p.text, line...)[:p.most]
	for n := 1; n < utf8.UTFMax && n < len(p.text); n++ {
		if cut := p.text[:len(p.text)-n]; !utf8.FullRune(p.text[len(cut):]) && utf8.RuneStart(p.text[len(cut)]) {
			p.text = cut
			break
		}
	}
}

// firstLines is the first n lines of a text with their ends.
func firstLines(text []byte, n int) []byte {
	end := 0
	for range n {
		i := bytes.IndexByte(text[end:], '\n')
		if i < 0 {
			return text
		}
		end += i + 1
	}
	return text[:end]
}

// fill writes the page into an answer.
func (p *page) fill(out *readOut, encoding string) {
	out.TotalLines = p.line - 1
	if p.open {
		out.TotalLines++
	}
	text := p.text
	if p.first == 1 && encoding == encUTF8 {
		text = bytes.TrimPrefix(text, []byte(bomUTF8))
	}
	out.Content = decode(text, encoding)
	out.Lines = countLines(out.Content)
	out.Truncated = p.cut
	switch {
	case p.first > max(out.TotalLines, 1):
		out.Note = fmt.Sprintf("the file has only %d lines", out.TotalLines)
	case p.cut && !bytes.HasSuffix(text, []byte{'\n'}):
		out.Note = fmt.Sprintf("line %d is longer than one answer holds; only its beginning is given", p.first)
	case p.cut:
		out.Note = fmt.Sprintf("lines %d to %d of %d; go on with start_line %d", p.first, p.first+out.Lines-1, out.TotalLines, p.first+out.Lines)
	}
}
