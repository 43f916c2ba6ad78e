package server

import (
	"crypto/rand"
	"fmt"
	"path/filepath"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// StateKey is the key that signs what MCP clients carry for us between two
// requests. It is kept, so that an answer that comes after a restart is still
// known to be one to a question of ours. It opens nothing.
func StateKey(state string) ([]byte, error) {
	const size = 32
	file := filepath.Join(state, "mcp-state-key")
	key, err := durable.Once(file, size, func() []byte {
		fresh := make([]byte, size)
		_, _ = rand.Read(fresh) // it never fails
		return fresh
	})
	if err == nil && len(key) != size {
		err = fmt.Errorf("%s is not as it was written: remove it", file)
	}
	return key, err
}
