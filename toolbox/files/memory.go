package files

import (
	"sync"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/files"
)

// memory keeps the latest of something, up to a number.
type memory[K comparable, V any] struct {
	mu    sync.Mutex
	most  int
	kept  map[K]V
	order []K // oldest first; may hold what was dropped
}

func newMemory[K comparable, V any](most int) *memory[K, V] {
	return &memory[K, V]{most: most, kept: map[K]V{}}
}

func (m *memory[K, V]) put(key K, value V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.kept[key]; !known {
		m.order = append(m.order, key)
		for len(m.order) > m.most {
			delete(m.kept, m.order[0])
			m.order = m.order[1:]
		}
	}
	m.kept[key] = value
}

func (m *memory[K, V]) get(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.kept[key]
	return value, ok
}

func (m *memory[K, V]) drop(key K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}

// take is get and drop in one.
func (m *memory[K, V]) take(key K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.kept[key]
	delete(m.kept, key)
	return value, ok
}

// seenKey is a file as one conversation knows it.
type seenKey struct{ organisation, subject, agent, session, path string }

// knownFile is what a conversation knows of a file.
type knownFile struct {
	files.Stamp
	read bool // it was read, not only written
}

func keyFor(env *toolcrib.Env, path string) seenKey {
	c := env.Call.Caller
	return seenKey{c.Organisation, c.Subject, c.Agent, c.Session, path}
}
