package sessions

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Filter picks sessions of a list.
type Filter struct {
	Limit int // the newest so many; 0: all
	// Delegated has those listed too that agents worked in which others put to work.
	Delegated bool
	Project   string // only those about this directory; empty: all
	Parent    string // only those that were branched off, or put to work by, this one
}

// List gives the sessions of an owner, the newest first. A file that is none is told
// as a fault beside them.
func (s *Store) List(o Owner, f Filter) (list []Info, fault error) {
	names, err := s.names(o)
	if err != nil {
		return nil, err
	}
	if !f.Delegated && f.Parent == "" { // their names say it: whose they are stands before a dot
		names = slices.DeleteFunc(names, func(n string) bool { return strings.Contains(n, ".") })
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(b, a) })
	batch := len(names)
	if f.Limit > 0 && f.Project == "" && f.Parent == "" {
		batch = min(batch, f.Limit)
	}
	var errs []error
	for len(names) > 0 && (f.Limit == 0 || len(list) < f.Limit) {
		some := names[:min(batch, len(names))]
		names = names[len(some):]
		for _, h := range s.heads(o, some) {
			switch {
			case h.err != nil:
				errs = append(errs, h.err)
			case f.Project != "" && h.info.Project != f.Project || f.Parent != "" && h.info.Parent != f.Parent:
			default:
				list = append(list, h.info)
			}
		}
	}
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, errors.Join(errs...)
}

// names are the IDs of an owner's sessions.
func (s *Store) names(o Owner) ([]string, error) {
	d, err := os.Open(s.dir(o))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	defer d.Close() //nolint:errcheck // it was only read
	files, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("listing sessions: %w", err)
	}
	var out []string
	for _, name := range files {
		if id, ok := strings.CutSuffix(name, ending); ok && ValidID(id) {
			out = append(out, id)
		}
	}
	return out, nil
}

type head struct {
	info Info
	err  error
}

// heads reads the first lines, several at once.
func (s *Store) heads(o Owner, ids []string) []head {
	out := make([]head, len(ids))
	var all sync.WaitGroup
	for w := range min(len(ids), 2*runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			buf := bufio.NewReaderSize(nil, 4<<10)
			for i := w; i < len(ids); i += 2 * runtime.GOMAXPROCS(0) {
				out[i].info, out[i].err = s.head(o, ids[i], buf)
			}
		})
	}
	all.Wait()
	return slices.DeleteFunc(out, func(h head) bool { return errors.Is(h.err, fs.ErrNotExist) }) // removed meanwhile
}

func (s *Store) head(o Owner, id string, buf *bufio.Reader) (Info, error) {
	f, err := os.Open(filepath.Join(s.dir(o), id+ending))
	if err != nil {
		return Info{}, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	buf.Reset(f)
	text, err := line(buf)
	if errors.Is(err, io.EOF) { // the program died before anything was said
		return Info{}, fs.ErrNotExist
	}
	var info Info
	if err != nil || json.Unmarshal(text, &info) != nil || info.ID != id || info.Owner != o {
		return Info{}, fmt.Errorf("%s is no session: its first line does not say what it is", f.Name())
	}
	if st, err := f.Stat(); err == nil {
		info.Updated, info.Size = st.ModTime(), st.Size()
	}
	return info, nil
}

// Find gives the session that an ID, or the beginning of one, means. "last" is the one
// that something was said in last, of those about this project; an empty project is any.
func (s *Store) Find(o Owner, begin, project string) (string, error) {
	if begin == "last" {
		list, _ := s.List(o, Filter{Project: project}) // what is no session is not the last one
		if len(list) == 0 {
			return "", fmt.Errorf("last: %w yet", ErrNotFound)
		}
		return slices.MaxFunc(list, func(a, b Info) int { return a.Updated.Compare(b.Updated) }).ID, nil
	}
	names, err := s.names(o)
	if err != nil {
		return "", err
	}
	if slices.Contains(names, begin) {
		return begin, nil
	}
	var hits []string
	for _, n := range names {
		if begin != "" && !strings.Contains(n, ".") && (strings.HasPrefix(n, begin) || strings.HasSuffix(n, "-"+begin)) {
			hits = append(hits, n)
		}
	}
	switch len(hits) {
	case 0:
		return "", fmt.Errorf("%s: %w; 'toolcrib sessions' lists them", begin, ErrNotFound)
	case 1:
		return hits[0], nil
	}
	slices.Sort(hits)
	return "", fmt.Errorf("%s means several sessions: %s", begin, strings.Join(hits[:min(len(hits), 5)], ", "))
}

// Sweep removes the sessions of an owner that are older than they may be, and tells how
// many.
func (s *Store) Sweep(o Owner) (int, error) {
	if s.cfg.MaxAge <= 0 {
		return 0, nil
	}
	names, err := s.names(o)
	if err != nil {
		return 0, err
	}
	var errs []error
	n := 0
	for _, id := range names {
		info, err := os.Stat(filepath.Join(s.dir(o), id+ending))
		if err != nil || s.cfg.Now().Sub(info.ModTime()) < s.cfg.MaxAge {
			continue
		}
		switch err := s.Remove(o, id); {
		case err == nil:
			n++
		case !errors.Is(err, ErrInUse) && !errors.Is(err, ErrNotFound):
			errs = append(errs, err)
		}
	}
	return n, errors.Join(errs...)
}

// Age is how long ago something was last said.
func (i Info) Age(now time.Time) time.Duration { return now.Sub(i.Updated) }
