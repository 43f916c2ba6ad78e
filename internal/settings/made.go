package settings

import (
	"reflect"
	"strings"
)

// Made reports whether a setting has a value other than nothing, by its key as people
// write it: toolboxes.web.engine, or models.fast. A key that is none is not made.
func Made(cfg Config, key string) bool {
	at := reflect.ValueOf(cfg)
	for name := range strings.SplitSeq(key, ".") {
		for at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		switch at.Kind() {
		case reflect.Struct:
			at = member(at, name)
		case reflect.Map:
			at = at.MapIndex(reflect.ValueOf(name))
		default:
			return false
		}
		if !at.IsValid() {
			return false
		}
	}
	switch at.Kind() {
	case reflect.Map, reflect.Slice:
		return at.Len() > 0
	}
	return !at.IsZero()
}

// member is the field of a struct that a name stands for in the settings.
func member(of reflect.Value, name string) reflect.Value {
	for i := range of.NumField() {
		f := of.Type().Field(i)
		tag, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if tag == name && name != "" {
			return of.Field(i)
		}
		if f.Anonymous || strings.Contains(options, "inline") {
			if v := member(of.Field(i), name); v.IsValid() {
				return v
			}
		}
	}
	return reflect.Value{}
}
