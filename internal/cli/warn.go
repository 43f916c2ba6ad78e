package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/text"
)

// warnAgain is how long a person is not told the same warning again.
const warnAgain = 24 * time.Hour

// warn tells a person something that is not as it should be and will still be so with the
// next command: on a terminal once a day, elsewhere always. Commands that look for mistakes
// tell everything always.
func (c *command) warn(message string) {
	message = text.ShowLine(message)
	if terminal(c.err) && !c.thorough && c.wasTold(message) {
		return
	}
	c.hush()
	fmt.Fprintf(c.err, "toolcrib: warning: %s\n", message)
}

// wasTold reports whether a warning was told in the last day, and writes down that it is
// told now. What cannot be read or written counts as not told.
func (c *command) wasTold(message string) bool {
	paths, _, err := c.paths()
	if err != nil {
		return false
	}
	file, now := filepath.Join(paths.State, "warned.json"), time.Now()
	told := map[string]time.Time{}
	if content, err := plainfile.Read(file, 1<<20); err == nil && json.Unmarshal(content, &told) != nil {
		told = map[string]time.Time{}
	}
	sum := sha256.Sum256([]byte(c.dir + "\x00" + message))
	key := hex.EncodeToString(sum[:12])
	if at, ok := told[key]; ok && at.Before(now) && now.Sub(at) < warnAgain {
		return true
	}
	for key, at := range told {
		if now.Sub(at) >= warnAgain || at.After(now) {
			delete(told, key)
		}
	}
	told[key] = now
	if content, err := json.Marshal(told); err == nil && os.MkdirAll(paths.State, 0o700) == nil {
		_ = durable.Replace(file, content, 0o600) // then it is told again
	}
	return false
}
