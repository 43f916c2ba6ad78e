package artifact

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// storedArtifact is one artifact as the directory tells of it.
type storedArtifact struct {
	name, owner string
	size        int64
	at          time.Time
}

// abandoned is after what time a file that was never finished is nobody's.
const abandoned = time.Hour

// sweep removes what is too old, and the oldest until there is room for size
// more bytes of an owner. It gives how much is left.
func (s *Store) sweep(who string, size int64) (total int64, err error) {
	list, err := s.list()
	if err != nil {
		return 0, fmt.Errorf("looking through the artifacts: %w", err)
	}
	var own int64
	count := 0
	for _, k := range list {
		total += k.size
		if k.owner == who {
			own += k.size
			count++
		}
	}
	adding := 0
	if size > 0 {
		adding = 1
	}
	for _, k := range list {
		crowded := k.owner == who && (own+size > s.cfg.PerCaller || count+adding > s.cfg.Count)
		if !crowded && total+size <= s.cfg.Total {
			continue
		}
		if err := missing(s.root.Remove(k.name)); err != nil {
			return total, fmt.Errorf("making room for an artifact: %w", err)
		}
		total -= k.size
		if k.owner == who {
			own -= k.size
			count--
		}
	}
	return total, nil
}

// list gives the artifacts, oldest first, and removes what is none any more.
// Files that are not named as ours are left alone.
func (s *Store) list() ([]storedArtifact, error) {
	entries, err := s.names()
	if err != nil {
		return nil, err
	}
	var list []storedArtifact
	for _, name := range entries {
		id, who, ok := strings.Cut(name, ".")
		draft := strings.HasPrefix(name, draftPrefix) && validID(name[len(draftPrefix):])
		if !draft && (!ok || !validID(id) || len(who) != ownerLen) {
			continue
		}
		info, err := s.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // another process was quicker
		}
		if err != nil {
			return nil, err
		}
		lost := draft && s.cfg.Now().Sub(info.ModTime()) > abandoned
		if !info.Mode().IsRegular() || s.old(info) || lost {
			if err := missing(s.root.Remove(name)); err != nil {
				return nil, err
			}
			continue
		}
		if draft {
			continue // whoever writes it has made room for it
		}
		list = append(list, storedArtifact{name, who, info.Size(), info.ModTime()})
	}
	slices.SortFunc(list, func(a, b storedArtifact) int { return cmp.Or(a.at.Compare(b.at), strings.Compare(a.name, b.name)) })
	return list, nil
}

func (s *Store) names() (names []string, err error) {
	dir, err := s.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if names, err = dir.Readdirnames(-1); errors.Is(err, io.EOF) {
		err = nil
	}
	return names, err
}

// old reports whether a file has had its time. One from far in the future was
// written by a clock that has been set since.
func (s *Store) old(info os.FileInfo) bool {
	age := s.cfg.Now().Sub(info.ModTime())
	return age > s.cfg.MaxAge || age < -s.cfg.MaxAge
}
