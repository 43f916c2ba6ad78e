package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/redact"
)

// history is what was typed into the chat, a line of JSON each. What looks like a secret
// is not kept.
type history struct{ file string }

const (
	historyMost  = 500
	historyBytes = 1 << 20
)

// read gives the last of it, oldest first. A file that cannot be read is an empty one:
// it is a help, and nothing else is.
func (h history) read() (list []string) {
	f, err := os.Open(h.file)
	if err != nil {
		return nil
	}
	defer f.Close() //nolint:errcheck // it was only read
	content, err := io.ReadAll(io.LimitReader(f, 4*historyBytes))
	if err != nil {
		return nil
	}
	for row := range bytes.Lines(content) {
		var typed string
		if json.Unmarshal(row, &typed) == nil && typed != "" {
			list = append(list, typed)
		}
	}
	if len(list) <= historyMost && len(content) <= historyBytes {
		return list
	}
	list = list[max(len(list)-historyMost/2, 0):]
	var kept bytes.Buffer
	for _, typed := range list {
		kept.Write(historyRow(typed))
	}
	if kept.Len() <= historyBytes {
		_ = durable.Replace(h.file, kept.Bytes(), 0o600) // else it is cut the next time
	}
	return list
}

// add keeps one more.
func (h history) add(typed string) error {
	if len(typed) > 64<<10 {
		return nil // nobody looks for that by the arrow keys
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(historyRow(typed))
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

func historyRow(typed string) []byte {
	row, err := json.Marshal(redact.Text(typed))
	if err != nil {
		return nil
	}
	return append(row, '\n')
}

// noteWriter takes what the program writes to standard error: to the person directly,
// and while the chat is painted to the chat.
type noteWriter struct {
	out   io.Writer
	lines chan string

	mu   sync.Mutex
	chat bool
}

func (n *noteWriter) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.chat {
		return n.out.Write(p)
	}
	select {
	case n.lines <- strings.TrimRight(string(p), "\n"):
	default: // nobody reads so many
	}
	return len(p), nil
}

func (n *noteWriter) begin() <-chan string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.chat = true
	return n.lines
}

// end has the rest written after the chat.
func (n *noteWriter) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.chat = false
	for {
		select {
		case l := <-n.lines:
			_, _ = io.WriteString(n.out, l+"\n")
		default:
			return
		}
	}
}
