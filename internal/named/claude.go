package named

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"

	"github.com/toolcrib/toolcrib/internal/pathglob"
)

// maxClaude bounds how much of Claude Code's file is read. It holds all that was
// ever typed into it.
const maxClaude = 64 << 20

// Servers is a table of MCP servers in that file.
type Servers struct {
	Project string // the directory that it is for; empty: any
	Text    []byte // {"mcpServers": …}
}

// ClaudeServers cuts the servers out of the file: all of them, and once more those
// for projects in one of the directories, with the project. In the history the
// words stand between quotes that are escaped. Of the file only those parts are
// kept.
func ClaudeServers(file string, dirs []string) (list []Servers, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, err
	}
	const word = `"mcpServers"`
	marks := [][]byte{[]byte(word)}
	for _, dir := range dirs {
		if key, err := json.Marshal(dir); err == nil {
			marks = append(marks, bytes.TrimSuffix(key, []byte(`"`)))
		}
	}
	size := min(info.Size(), maxClaude)
	for _, at := range offsets(f, size, marks) {
		key, from := keyAt(f, at)
		if from == 0 {
			continue // it is a value
		}
		value := json.NewDecoder(io.NewSectionReader(f, from, size-from))
		if project := key != "mcpServers"; project {
			var of struct {
				Servers json.RawMessage `json:"mcpServers"`
			}
			if value.Decode(&of) == nil && len(of.Servers) > 2 && slices.ContainsFunc(dirs, func(dir string) bool { return pathglob.Holds(dir, key) }) {
				list = append(list, Servers{key, slices.Concat([]byte("{"+word+":"), of.Servers, []byte("}"))})
			}
			continue
		}
		var table json.RawMessage
		if value.Decode(&table) == nil && bytes.HasPrefix(table, []byte("{")) && len(table) > 2 {
			list = append(list, Servers{"", slices.Concat([]byte("{"+word+":"), table, []byte("}"))})
		}
	}
	return list, nil
}

// keyAt reads a key and gives where its value begins; zero if it is none.
func keyAt(r io.ReaderAt, at int64) (key string, from int64) {
	buf := make([]byte, maxWord)
	n, _ := r.ReadAt(buf, at) // the rest may be shorter
	text := buf[:n]
	end := 1
	for end < n && text[end] != '"' {
		if text[end] == '\\' {
			end++
		}
		end++
	}
	if end >= n || json.Unmarshal(text[:end+1], &key) != nil {
		return "", 0
	}
	rest := bytes.TrimLeft(text[end+1:], " \t\r\n")
	if !bytes.HasPrefix(rest, []byte(":")) {
		return "", 0
	}
	return key, at + int64(n-len(rest)) + 1
}

// offsets gives where the marks stand, each behind something else than a backslash.
func offsets(r io.ReaderAt, size int64, marks [][]byte) (list []int64) {
	const piece = 256 << 10
	longest := 0
	for _, mark := range marks {
		longest = max(longest, len(mark))
	}
	buf := make([]byte, piece+longest) // a mark may stand across the end
	last := byte(0)                    // before this piece
	for at := int64(0); at < size && len(list) < 16*maxFiles; at += piece {
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		if err != nil && n == 0 {
			break
		}
		for _, mark := range marks {
			for from := 0; ; {
				i := bytes.Index(buf[from:n], mark)
				if i < 0 || from+i >= piece {
					break
				}
				from += i
				before := last
				if from > 0 {
					before = buf[from-1]
				}
				if before != '\\' {
					list = append(list, at+int64(from))
				}
				from++
			}
		}
		last = buf[min(piece, n)-1]
	}
	slices.Sort(list)
	return slices.Compact(list)
}
