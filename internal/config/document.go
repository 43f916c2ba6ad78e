package config

import (
	"errors"
	"fmt"
	"reflect"
)

// documented describes a type for its reference or schema. Beyond what Load asks, every setting must say what it does,
// and every default must be a value that a user could write: a test that calls Reference or Schema finds both.
func documented(defaults reflect.Value) (*field, error) {
	root, err := newTree(defaults.Type())
	if err != nil {
		return nil, err
	}
	var errs []error
	root.walk(func(f *field) {
		if f.name != "" && f.doc == "" {
			errs = append(errs, fmt.Errorf("%s has no doc tag", f.key))
		}
	})
	errs = append(errs, badDefaults(root, defaults, "")...)
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("documenting settings of %v: %w", defaults.Type(), err)
	}
	return root, nil
}

// badDefaults lists the defaults that break the rules of their own setting.
func badDefaults(f *field, v reflect.Value, key string) []error {
	var errs []error
	switch f.kind {
	case kindBlock, kindOptional:
		for member, value := range f.settings(v) {
			errs = append(errs, badDefaults(member, value, joinKey(key, member.name))...)
		}
	case kindMap:
		for _, name := range entryNames(v) {
			entry, _ := entryOf(f, v, name)
			errs = append(errs, badDefaults(f.elem, entry, joinKey(key, name))...)
		}
	case kindList:
		for i := range v.Len() {
			errs = append(errs, badDefaults(f.elem, v.Index(i), elementKey(key, i))...)
		}
	default:
		if _, err := f.parse(f.format(v)); err != nil {
			errs = append(errs, fmt.Errorf("%s: the default is not allowed: %w", key, err))
		}
	}
	return errs
}

// The forms in which a sentence says what a setting holds.
const (
	asType  = iota
	several // of them
	wanted  // what a value must look like
)

// typeName says in a few words what a setting holds.
func (f *field) typeName() string { return f.words(asType) }

// expected says in words what a value must look like.
func (f *field) expected() string { return f.words(wanted) }

func (f *field) words(form int) string {
	words := [...][3]string{
		kindBool:     {"true or false", "true or false", "true or false"},
		kindInt:      {"whole number", "whole numbers", "a whole number"},
		kindUint:     {"whole number", "whole numbers", "a whole number"},
		kindFloat:    {"number", "numbers", "a number"},
		kindText:     {"text", "texts", "text"},
		kindDuration: {"duration", "durations", "a duration such as 30s, 1h30m or 90d"},
		kindBytes:    {"size", "sizes", "a size such as 4096, 16MiB or 1GB"},
		kindList:     {"list of ", "lists of ", "a list"},
		kindMap:      {"map of names to ", "map of names to ", "a block of settings"},
		kindBlock:    {"block", "blocks", "a block of settings"},
		kindOptional: {"optional block", "optional block", "a block of settings"},
	}[f.kind][form]
	switch {
	case f.enum != nil && form == several:
		return "texts, each one of " + listed(f.enum)
	case f.enum != nil:
		return "one of " + listed(f.enum)
	case f.elem != nil && form != wanted:
		return words + f.elem.words(several)
	}
	return words + f.bounds()
}

// allowed says in words what a project file may do; empty: nothing.
func (r rule) allowed() string {
	return map[rule]string{
		ruleLower: "lower it", ruleAdd: "add entries", ruleOff: "turn it off", ruleOn: "turn it on", ruleSubset: "narrow it", ruleDrop: "take entries away",
	}[r]
}
