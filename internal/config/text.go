package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// textPatch decodes a setting from one text, as the environment and flags give it: a list is written with commas, a map
// as name=value with commas.
func textPatch(p *patch, text string) error {
	if !utf8.ValidString(text) {
		return errors.New("the value is not valid UTF-8")
	}
	var err error
	switch {
	case p.f.kind.scalar():
		p.value, err = p.f.parse(text)
		return err
	case p.f.kind == kindList && p.f.elem.kind.scalar():
		return textList(p, text)
	case p.f.kind == kindMap && p.f.elem.kind.scalar():
		return textMap(p, text)
	}
	return errors.New("it has too much structure to be written as one text: set it in a file")
}

func textList(p *patch, text string) error {
	p.value = reflect.MakeSlice(p.f.typ, 0, 0)
	var errs []error
	for i, item := range commas(text) {
		if item == "" {
			errs = append(errs, fmt.Errorf("element %d is empty", i+1))
			continue
		}
		v, err := p.f.elem.parse(item)
		if err != nil {
			errs = append(errs, fmt.Errorf("element %d: %w", i+1, err))
			continue
		}
		p.value = reflect.Append(p.value, v)
	}
	return errors.Join(errs...)
}

func textMap(p *patch, text string) error {
	var errs []error
	for i, item := range commas(text) {
		name, value, ok := strings.Cut(item, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || len(name) > maxName {
			errs = append(errs, fmt.Errorf("entry %d: expected name=value, with a name of 1 to %d bytes", i+1, maxName))
			continue
		}
		part := &patch{f: p.f.elem, name: name, key: joinKey(p.key, name), origin: p.origin}
		var err error
		if part.value, err = p.f.elem.parse(strings.TrimSpace(value)); err != nil {
			errs = append(errs, fmt.Errorf("entry %d: %w", i+1, err))
			continue
		}
		p.parts = append(p.parts, part)
	}
	return errors.Join(errs...)
}

// commas splits a text at its commas; an empty text has no parts.
func commas(text string) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	parts := strings.Split(text, ",")
	for i, part := range parts {
		parts[i] = strings.TrimSpace(part)
	}
	return parts
}

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
	return chain[0], textPatch(chain[len(chain)-1], text)
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
