package gitchange

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // git's own
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"time"

	"github.com/toolcrib/toolcrib/internal/gitindex"
	"github.com/toolcrib/toolcrib/internal/gitobject"
)

// looked checks what the index says that git has seen. Git does not read a file that is
// still like that, so one with another content would be hidden from git status and git
// diff, and from the next commit of all changes. What it has not seen yet nobody can say.
func (j *judge) looked(at int, before, entries []gitindex.Entry) error {
	if j.repo.Work == nil {
		return nil
	}
	was := make(map[staged]gitindex.Entry, len(before))
	for _, e := range before {
		was[staged{e.Name, e.Stage}] = e
	}
	left := int64(maxWork)
	for _, e := range entries {
		old, had := was[staged{e.Name, e.Stage}]
		if e.Stage != 0 || e.Later || e.Seen.Size == 0 || gitobject.Mode(e.Mode) == gitobject.ModeModule || had && old.Seen == e.Seen && old.Blob == e.Blob {
			continue
		}
		if int64(e.Seen.Changed) > time.Now().Unix() {
			j.find(at, Ask, Obeyed, "the index has "+plain(e.Name)+" as it will be at a time that has not come")
			continue
		}
		same, err := j.sameAsSeen(&e, &left)
		if err != nil {
			return fmt.Errorf("%s: %w", plain(e.Name), err)
		}
		if !same {
			j.find(at, Ask, Obeyed, "git would take "+plain(e.Name)+" for unchanged, although it has another content than the index says")
		}
	}
	return nil
}

// maxText bounds the files whose line ends git may have changed.
const maxText = 64 << 20

// sameAsSeen tells whether a file has the content that the index has of it, or is not the
// one that git has seen, so that git looks again.
func (j *judge) sameAsSeen(e *gitindex.Entry, left *int64) (bool, error) {
	f, err := j.repo.Work(e.Name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	size := f.Size()
	if uint32(f.Written.Unix()&math.MaxUint32) != e.Seen.Written || uint32(size&math.MaxUint32) != e.Seen.Size {
		return true, nil
	}
	if *left -= size; *left < 0 {
		return false, gitobject.ErrTooMuch
	}
	sum := sha1.New() //nolint:gosec // git's own
	_, _ = fmt.Fprintf(sum, "%s %d\x00", gitobject.Blob, size)
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, size)); err != nil {
		return false, err
	}
	if string(sum.Sum(nil)) == e.Blob || size > maxText {
		return string(sum.Sum(nil)) == e.Blob, nil
	}
	text := make([]byte, size)
	if n, err := f.ReadAt(text, 0); n < len(text) {
		return false, err
	}
	id := gitobject.Hash(gitobject.Object{Kind: gitobject.Blob, Data: bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))})
	return string(id[:]) == e.Blob, nil
}
