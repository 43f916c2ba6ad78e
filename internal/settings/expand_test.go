package settings

import (
	"context"
	"errors"
	"testing"
)

func TestExpandAll(t *testing.T) {
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"A": "one", "EMPTY": "", "EVIL": "${secret:k} ${A} $(id)"}[name]
		return v, ok
	}
	secret := func(_ context.Context, name string) (string, error) {
		if name != "k" {
			return "", errors.New("none")
		}
		return "${A}", nil
	}
	for given, want := range map[string]string{
		"plain $ $(id) `id`": "plain $ $(id) `id`",
		"${A}-${A}":          "one-one",
		"${B:-two}":          "two",
		"${EMPTY:-three}":    "three",
		"${EMPTY}":           "",
		"${B:-}":             "",
		"$${A} ${A}":         "${A} one",
		"Bearer ${secret:k}": "Bearer ${A}",
		"$${secret:k}":       "${secret:k}",
		"${EVIL}":            "${secret:k} ${A} $(id)",
		"${not a name}":      "${not a name}",
		// A default may be a secret, which is asked for only where it is needed.
		"x ${B:-${secret:k}} ${A}":                "x ${A} one",
		"${A:-${secret:other}}":                   "one",
		"${EMPTY:-${secret:k}}${B:-${secret:k}}!": "${A}${A}!",
		"$${B:-x}${B:-${secret:k}}":               "${B:-x}${A}",
	} {
		got, err := Expand(t.Context(), given, env, secret)
		if err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", given, got, err, want)
		}
	}
	for _, bad := range []string{"${B}", "${secret:other}", "${secret:", "${B:-${secret:other}}", "${A:-${secret:"} {
		if got, err := Expand(t.Context(), bad, env, secret); err == nil {
			t.Errorf("%q gave %q", bad, got)
		}
	}
}
