package layer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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
	list := map[restored]bool{}
	text, err := plainfile.Read(path, maxRestored)
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was put back: %w", err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var r restored
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &r.inode, &r.ctime); err == nil { // a line that is none allows nothing
			list[r] = true
		}
	}
	return list, nil
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
	var out bytes.Buffer
	oldest := time.Now().Add(-keepList).UnixNano()
	for r := range p.restored {
		if r.ctime > oldest && out.Len() < maxRestored/2 {
			fmt.Fprintf(&out, "%d %d\n", r.inode, r.ctime)
		}
	}
	if err := durable.Replace(path, out.Bytes(), 0o600); err != nil {
		return fmt.Errorf("writing down what was put back: %w", err)
	}
	return nil
}
