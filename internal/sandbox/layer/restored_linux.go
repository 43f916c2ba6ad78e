package layer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
)

// Undo renames files, which gives them another ctime. So that a command before the one
// that was taken back can be taken back too, what undo has put back is written down: a
// file that has not changed since is no change by somebody else.

// restored is a file as undo has put it back.
type restored struct {
	inode uint64
	ctime int64
}

func restoredOf(e Entry) restored { return restored{e.id.Inode, e.ctime.UnixNano()} }

const (
	maxRestored = 64 << 20 // bytes of the list
	keepList    = 30 * 24 * time.Hour
)

// readRestored reads the list; none is an empty one.
func readRestored(path string) (map[restored]bool, error) {
	text, err := plainfile.Read(path, maxRestored)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading what was put back: %w", err)
	}
	return parseRestored(text), nil
}

// parseRestored reads what noteRestored writes. Nobody else writes it, so that a line which
// is none is half of one, and allows nothing.
func parseRestored(text []byte) map[restored]bool {
	list := map[restored]bool{}
	for line := range strings.Lines(string(text)) {
		line, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break
		}
		var r restored
		inode, ctime, _ := strings.Cut(line, " ")
		var errInode, errCtime error
		r.inode, errInode = strconv.ParseUint(inode, 10, 64)
		r.ctime, errCtime = strconv.ParseInt(ctime, 10, 64)
		if errInode == nil && errCtime == nil {
			list[r] = true
		}
	}
	return list
}

// restoredText writes the list, without what is too old to matter.
func restoredText(list map[restored]bool, oldest int64) []byte {
	var out bytes.Buffer
	for r := range list {
		if r.ctime > oldest && out.Len() < maxRestored/2 {
			fmt.Fprintf(&out, "%d %d\n", r.inode, r.ctime)
		}
	}
	return out.Bytes()
}

// noteRestored adds what was put back to the list, and leaves out what is too old to
// matter: the layers that it was for are gone.
func (p *performer) noteRestored(path string) error {
	for i := range p.rec.Steps {
		st := &p.rec.Steps[i]
		if st.Action == put {
			continue
		}
		live, aside, err := p.at(st)
		if err != nil {
			return err
		}
		now, err := live.entry()
		p.closeBoth(live, aside)
		if err != nil {
			return err
		}
		p.restored[restoredOf(now)] = true
	}
	if err := durable.Replace(path, restoredText(p.restored, time.Now().Add(-keepList).UnixNano()), 0o600); err != nil {
		return fmt.Errorf("writing down what was put back: %w", err)
	}
	return nil
}
