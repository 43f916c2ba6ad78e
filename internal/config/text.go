package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// patchTrail makes the chain of patches from the root down to the setting that the names lead to.
func patchTrail(root *field, names []string, origin Origin) (chain []*patch, err error) {
	chain = []*patch{{f: root, origin: origin}}
	for _, name := range names {
		last := chain[len(chain)-1]
		next := &patch{name: name, key: joinKey(last.key, name), origin: origin}
		switch last.f.kind {
		case kindBlock, kindOptional:
			next.f = last.f.field(name)
		case kindMap:
			if name == "" || len(name) > maxName {
				return nil, fmt.Errorf("a name below %s must have 1 to %d bytes", last.key, maxName)
			}
			next.f = last.f.elem
		default:
			return nil, fmt.Errorf("there is nothing below %s", last.key)
		}
		if next.f == nil {
			if near := suggest(root, last.f, last.key, name); near != "" {
				return nil, fmt.Errorf("unknown key %s; did you mean %s?", clip(next.key), near)
			}
			return nil, fmt.Errorf("unknown key %s", clip(next.key))
		}
		last.parts = []*patch{next}
		chain = append(chain, next)
	}
	return chain, nil
}

// flagPatches decodes the flags, in the order of their keys.
func flagPatches(root *field, flags map[string]string, ps *problems) []*patch {
	var patches []*patch
	for _, key := range slices.Sorted(maps.Keys(flags)) {
		p, err := keyPatch(root, key, flags[key], Origin{Source: SourceFlag})
		if err != nil {
			ps.add(mark{}, shortKey(key), "flag: %s", oneLine(err))
			continue
		}
		patches = append(patches, p)
	}
	return patches
}

// keyPatch decodes the text of one key.
func keyPatch(root *field, key, text string, origin Origin) (*patch, error) {
	names, err := splitKey(key)
	if err != nil {
		return nil, err
	}
	chain, err := patchTrail(root, names, origin)
	if err != nil {
		return nil, err
	}
	last := chain[len(chain)-1]
	p, _, err := textValue(root, last.f, last.key, last.name, text, origin)
	if err != nil {
		return nil, err
	}
	*last = *p
	return chain[0], nil
}

// shortKey makes a key that somebody typed fit for a message.
func shortKey(key string) string {
	if names, err := splitKey(key); err == nil && len(key) <= maxName {
		joined := ""
		for _, name := range names {
			joined = joinKey(joined, name)
		}
		return joined
	}
	return clip(key)
}

// oneLine writes joined errors on one line: one value is one problem.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
