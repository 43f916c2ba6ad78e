package notes

import (
	"context"
	_ "embed" // the description
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib"
)

//go:embed scratchpad_write.md
var scratchpadWriteText string

type padIn struct {
	Key    string `json:"key" minlen:"1" maxlen:"100" doc:"The name to keep it under."`
	Value  string `json:"value,omitempty" doc:"The text, at most 10,000 characters. It replaces what was there."`
	Remove bool   `json:"remove,omitempty" doc:"Remove the key instead."`
}

type padOut struct {
	Key  string `json:"key" doc:"The key."`
	Keys int    `json:"keys" doc:"How many keys the scratchpad has now, of 50."`
}

func (b box) scratchpadWrite() toolcrib.Tool {
	return toolcrib.Define(toolcrib.Spec{
		Name: "scratchpad_write", Title: "Write to the scratchpad", Description: scratchpadWriteText,
		Effects: toolcrib.Reads, Group: group, Idempotent: true,
	}, func(ctx context.Context, env *toolcrib.Env, in padIn) (padOut, error) {
		out := padOut{Key: strings.TrimSpace(in.Key)}
		switch n := utf8.RuneCountInString(in.Value); {
		case out.Key == "":
			return padOut{}, errors.New("the key has no letters")
		case in.Remove && in.Value != "":
			return padOut{}, errors.New("there is a value, and remove is set: which of the two is meant?")
		case n > MaxValue:
			return padOut{}, fmt.Errorf("the value has %d characters, and at most %d are kept: nothing was written. Write less, or several keys", n, MaxValue)
		}
		err := b.store.Change(ctx, env.Call.Caller, func(n *Notes) error {
			_, there := n.Pad[out.Key]
			switch {
			case in.Remove && !there:
				return noSuchKey(out.Key, *n)
			case in.Remove:
				delete(n.Pad, out.Key)
			case !there && len(n.Pad) >= MaxKeys:
				return fmt.Errorf("the scratchpad has %d keys, and no room for another: remove one, or write to one that is there", len(n.Pad))
			default:
				if n.Pad == nil {
					n.Pad = map[string]string{}
				}
				n.Pad[out.Key] = in.Value
			}
			out.Keys = len(n.Pad)
			return nil
		})
		return out, err
	})
}
