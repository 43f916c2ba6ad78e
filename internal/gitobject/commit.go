package gitobject

import (
	"strconv"
	"strings"
)

// CommitInfo is what a commit says.
type CommitInfo struct {
	Tree    ID
	Parents []ID
	Author  string // name and address
	Message string // its beginning
	Time    int64  // of the committer, in seconds
}

// The bounds on a commit, and on what is kept of its message: very many may be held.
const (
	maxCommit  = 1 << 20
	maxMessage = 16 << 10
)

// ParseCommit reads a commit.
func ParseCommit(data []byte) (CommitInfo, error) {
	var c CommitInfo
	head, message, _ := strings.Cut(string(data), "\n\n")
	c.Message = strings.Clone(message[:min(len(message), maxMessage)])
	lines := strings.Split(head, "\n")
	next := func(word string) (string, bool) {
		if len(lines) == 0 {
			return "", false
		}
		value, ok := strings.CutPrefix(lines[0], word+" ")
		if ok {
			lines = lines[1:]
		}
		return value, ok
	}
	text, ok := next("tree")
	if c.Tree, ok = idIf(text, ok); !ok {
		return c, ErrOdd
	}
	for {
		text, found := next("parent")
		if !found {
			break
		}
		id, ok := ParseID(text)
		if !ok {
			return c, ErrOdd
		}
		c.Parents = append(c.Parents, id)
	}
	author, ok := next("author")
	committer, also := next("committer")
	if !ok || !also {
		return c, ErrOdd
	}
	c.Author, _, _ = cutTime(author)
	c.Author = strings.Clone(c.Author[:min(len(c.Author), maxMessage)])
	_, c.Time, ok = cutTime(committer)
	if !ok {
		return c, ErrOdd
	}
	return c, nil
}

func idIf(text string, ok bool) (ID, bool) {
	if !ok {
		return ID{}, false
	}
	return ParseID(text)
}

// cutTime cuts the time from a person: name, address, seconds and zone.
func cutTime(person string) (who string, seconds int64, ok bool) {
	end := strings.LastIndexByte(person, '>')
	if end < 0 {
		return person, 0, false
	}
	word, _, _ := strings.Cut(strings.TrimSpace(person[end+1:]), " ")
	seconds, err := strconv.ParseInt(word, 10, 64)
	return person[:end+1], seconds, err == nil
}

// Commit reads a commit.
func (s *Store) Commit(id ID) (CommitInfo, error) {
	data, err := s.ReadKind(id, Commit, maxCommit)
	if err != nil {
		return CommitInfo{}, err
	}
	c, err := ParseCommit(data)
	return c, s.named(id, err)
}

// maxPeel is how many tags may stand for each other.
const maxPeel = 16

// Peel follows tags to what they stand for in the end.
func (s *Store) Peel(id ID) (ID, Kind, error) {
	for range maxPeel {
		o, err := s.Read(id, maxObject)
		if err != nil {
			return id, 0, err
		}
		if o.Kind != Tag {
			return id, o.Kind, nil
		}
		first, rest, _ := strings.Cut(string(o.Data), "\n")
		text, ok := strings.CutPrefix(first, "object ")
		to, isID := ParseID(text)
		if !ok || !isID || !strings.HasPrefix(rest, "type ") {
			return id, 0, s.named(id, ErrOdd)
		}
		id = to
	}
	return id, 0, s.named(id, ErrTooMuch)
}
