package notes

import (
	"context"
	_ "embed" // the description
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/text"
)

//go:embed scratchpad_read.md
var scratchpadReadText string

type padReadIn struct {
	Key string `json:"key,omitempty" maxlen:"100" doc:"The key to read. Left out: the keys are listed."`
}

type padReadOut struct {
	Key   string   `json:"key,omitempty" doc:"The key that was read."`
	Value string   `json:"value,omitempty" doc:"What is kept under it."`
	Keys  []string `json:"keys,omitempty" doc:"The keys there are."`
}

func (b box) scratchpadRead() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "scratchpad_read", Title: "Read the scratchpad", Description: scratchpadReadText,
		Effects: toolcrib.Reads, Group: group, Idempotent: true,
	}, func(ctx context.Context, env *toolcrib.Env, in padReadIn) (padReadOut, error) {
		n, err := b.store.Read(ctx, env.Call.Caller)
		if err != nil {
			return padReadOut{}, err
		}
		key := strings.TrimSpace(in.Key)
		if key == "" {
			return padReadOut{Keys: n.Keys()}, nil
		}
		value, ok := n.Pad[key]
		if !ok {
			return padReadOut{}, noSuchKey(key, n)
		}
		return padReadOut{Key: key, Value: value}, nil
	})
}

func noSuchKey(key string, n Notes) error {
	keys := n.Keys()
	if len(keys) == 0 {
		return fmt.Errorf("there is no key %q: the scratchpad of this session is empty", key)
	}
	if near := text.Nearest(key, keys); near != "" {
		return fmt.Errorf("there is no key %q; did you mean %q?", key, near)
	}
	return fmt.Errorf("there is no key %q; without a key, scratchpad_read lists them", key)
}
