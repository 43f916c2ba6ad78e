package keeper

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/settings"
	"github.com/toolcrib/toolcrib/internal/vault"
)

// Want is a secret that somebody's word names, and where.
type Want struct{ Name, Where string }

// Wanted are the secrets that the settings name: by ${secret:NAME}, as the key of a
// model, for an API, or in vault.grants. What is switched off wants none.
func Wanted(cfg settings.Config) []Want {
	found := map[string]string{}
	note := func(name, where string) {
		if _, ok := found[name]; !ok && name != "" && name != "*" && vault.CheckName(name) == nil {
			found[name] = where
		}
	}
	walk(reflect.ValueOf(cfg), "", func(where, value string) {
		parts, err := vault.ParseText(value)
		if err != nil {
			return // settings that cannot be read are told elsewhere
		}
		for _, p := range parts {
			note(p.Secret, where)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(cfg.Models)) {
		key, _ := strings.CutPrefix(cfg.Models[name].Key, "secret:")
		if key != cfg.Models[name].Key {
			note(key, "models."+name+".key")
		}
	}
	for _, api := range slices.Sorted(maps.Keys(cfg.OpenAPI)) {
		if s := cfg.OpenAPI[api]; !s.Disabled {
			for _, name := range slices.Sorted(maps.Keys(s.Auth)) {
				note(s.Auth[name].Secret, "openapi."+api+".auth."+name)
			}
		}
	}
	for _, who := range slices.Sorted(maps.Keys(cfg.Vault.Grants)) {
		for _, name := range cfg.Vault.Grants[who] {
			note(name, "vault.grants."+who)
		}
	}
	var out []Want
	for _, name := range slices.Sorted(maps.Keys(found)) {
		out = append(out, Want{name, found[name]})
	}
	return out
}

// walk goes through every text of the settings, by the names that people write.
func walk(v reflect.Value, where string, see func(where, value string)) {
	switch v.Kind() {
	case reflect.String:
		if strings.Contains(v.String(), "${") {
			see(where, v.String())
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), where, see)
		}
	case reflect.Struct:
		if off(v) {
			return
		}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), under(where, name), see)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			walk(v.MapIndex(k), under(where, k.String()), see)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), where, see)
		}
	}
}

// off: it is left out, or was never switched on.
func off(v reflect.Value) bool {
	for name, is := range map[string]bool{"Disabled": true, "Enabled": false} {
		if f := v.FieldByName(name); f.IsValid() && f.Kind() == reflect.Bool && f.Bool() == is {
			return true
		}
	}
	return false
}

func under(where, name string) string {
	switch {
	case name == "":
		return where
	case where == "":
		return name
	}
	return where + "." + name
}

// Lacking are those of these secrets that nobody has set.
func (k *Keeper) Lacking(ctx context.Context, wants []Want) (out []Want) {
	var names []string
	for _, w := range wants {
		names = append(names, w.Name)
	}
	missing := k.Missing(ctx, names)
	for _, w := range wants {
		if slices.Contains(missing, w.Name) {
			out = append(out, w)
		}
	}
	return out
}
