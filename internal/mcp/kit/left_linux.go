package kit

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// leavesNothing looks for processes that have the variable which the program was
// started with. What the program started has it too, unless it took pains. The hub
// ends them with the program; one that relies on that loses what they do.
func (k *kit) leavesNothing(ctx context.Context) error {
	k.stop()
	var left []string
	for range 20 { // what was just told to end may take a moment
		if left = k.left(); len(left) == 0 {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("these still run: %s", strings.Join(left, ", "))
}

// left names them.
func (k *kit) left() (out []string) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		env, err := os.ReadFile(filepath.Join(dir, "environ"))
		if err != nil || !bytes.Contains(append([]byte{0}, env...), []byte("\x00"+k.mark+"\x00")) {
			continue // of others, and of those that have just gone
		}
		name, err := os.ReadFile(filepath.Join(dir, "comm"))
		if err == nil {
			out = append(out, fmt.Sprintf("%s (process %s)", bytes.TrimSpace(name), filepath.Base(dir)))
		}
	}
	return out
}
