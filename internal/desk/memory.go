package desk

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/toolcrib/toolcrib/internal/seal"
)

// Memory is a Store that ends with the process. Its zero value is empty.
type Memory struct {
	mu    sync.RWMutex
	data  memory
	once  sync.Once
	names *seal.Digest
}

var _ Digester = (*Memory)(nil)

// Digest implements Digester.
func (m *Memory) Digest(parts ...string) string {
	m.once.Do(func() { m.names = seal.NewDigest(seal.NewKey(), "run") })
	return m.names.Join(parts...)
}

type memory struct {
	rev       int64
	questions map[string]Question
	grants    map[string]Grant
}

// Update implements Store.
func (m *Memory) Update(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	next := memory{m.data.rev, maps.Clone(m.data.questions), maps.Clone(m.data.grants)}
	if next.questions == nil {
		next.questions, next.grants = map[string]Question{}, map[string]Grant{}
	}
	if err := fn(&memoryTx{data: &next, writes: true}); err != nil {
		return err
	}
	m.data = next
	return nil
}

// View implements Store.
func (m *Memory) View(ctx context.Context, fn func(Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	return fn(&memoryTx{data: &m.data})
}

type memoryTx struct {
	data   *memory
	writes bool
}

var errReadOnly = errors.New("nothing can be changed while viewing")

func (t *memoryTx) Question(id string) (Question, error) {
	q, ok := t.data.questions[id]
	if !ok {
		return Question{}, ErrNotFound
	}
	return q.clone(), nil
}

func (t *memoryTx) Questions(f Filter) ([]Question, error) {
	var list []Question
	for _, q := range t.data.questions {
		if f.Picks(&q) {
			list = append(list, q.clone())
		}
	}
	slices.SortFunc(list, func(a, b Question) int { return cmp.Compare(a.Rev, b.Rev) })
	if f.Limit > 0 && len(list) > f.Limit {
		list = list[:f.Limit]
	}
	return list, nil
}

func (t *memoryTx) Count(f Filter) (int, error) {
	list, err := t.Questions(f)
	return len(list), err
}

func (t *memoryTx) PutQuestion(q Question) error {
	if !t.writes {
		return errReadOnly
	}
	t.data.rev++
	q = q.clone()
	q.Rev = t.data.rev
	t.data.questions[q.ID] = q
	return nil
}

func (t *memoryTx) DropQuestion(id string) error {
	if !t.writes {
		return errReadOnly
	}
	delete(t.data.questions, id)
	return nil
}

func (t *memoryTx) Rev() (int64, error) { return t.data.rev, nil }

func (t *memoryTx) Grant(id string) (Grant, error) {
	g, ok := t.data.grants[id]
	if !ok {
		return Grant{}, ErrNotFound
	}
	return g, nil
}

func (t *memoryTx) Grants(f GrantFilter) ([]Grant, error) {
	var list []Grant
	for _, g := range t.data.grants {
		if f.Picks(&g) {
			list = append(list, g)
		}
	}
	slices.SortFunc(list, func(a, b Grant) int { return cmp.Or(a.At.Compare(b.At), strings.Compare(a.ID, b.ID)) })
	return list, nil
}

func (t *memoryTx) PutGrant(g Grant) error {
	if !t.writes {
		return errReadOnly
	}
	t.data.grants[g.ID] = g
	return nil
}

func (t *memoryTx) DropGrant(id string) error {
	if !t.writes {
		return errReadOnly
	}
	delete(t.data.grants, id)
	return nil
}
