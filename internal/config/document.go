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
	case kindBlock:
		for _, member := range f.fields {
			errs = append(errs, badDefaults(member, v.Field(member.index), joinKey(key, member.name))...)
		}
	case kindOptional:
		if v.IsNil() {
			break
		}
		for _, member := range f.fields {
			errs = append(errs, badDefaults(member, v.Elem().Field(member.index), joinKey(key, member.name))...)
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

// typeName says in a few words what a setting holds.
func (f *field) typeName() string {
	switch f.kind {
	case kindBool:
		return "true or false"
	case kindInt, kindUint:
		return "whole number" + f.bounds()
	case kindFloat:
		return "number" + f.bounds()
	case kindText:
		if f.enum != nil {
			return "one of " + listed(f.enum)
		}
		return "text"
	case kindDuration:
		return "duration" + f.bounds()
	case kindBytes:
		return "size" + f.bounds()
	case kindList:
		return "list of " + f.elem.manyName()
	case kindMap:
		return "map of names to " + f.elem.manyName()
	case kindOptional:
		return "optional block"
	default:
		return "block"
	}
}

// manyName is typeName for several.
func (f *field) manyName() string {
	switch f.kind {
	case kindInt, kindUint:
		return "whole numbers" + f.bounds()
	case kindFloat:
		return "numbers" + f.bounds()
	case kindText:
		if f.enum != nil {
			return "texts, each one of " + listed(f.enum)
		}
		return "texts"
	case kindDuration:
		return "durations" + f.bounds()
	case kindBytes:
		return "sizes" + f.bounds()
	case kindList:
		return "lists of " + f.elem.manyName()
	case kindBlock:
		return "blocks"
	}
	return f.typeName()
}

// allowed says in words what a project file may do.
func (r rule) allowed() string {
	switch r {
	case ruleLower:
		return "lower it"
	case ruleAdd:
		return "add entries"
	case ruleOff:
		return "turn it off"
	case ruleOn:
		return "turn it on"
	case ruleSubset:
		return "narrow it"
	case ruleDrop:
		return "take entries away"
	default:
		return "nothing"
	}
}
