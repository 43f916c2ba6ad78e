package settings

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/internal/vault"
)

// variable is a reference to a variable of this process: ${NAME}, or
// ${NAME:-what to take if it is not set}, which may be one secret. With a second
// $ in front it is plain.
var variable = regexp.MustCompile(`\$?\$\{([A-Za-z_][A-Za-z0-9_]*)(:-(\$\{secret:[^}]*\}|[^}]*))?\}`)

// Expand puts in what ${secret:NAME}, ${VAR}, ${VAR:-default} and
// ${VAR:-${secret:NAME}} stand for. What is put in is not looked at again, and
// nothing is ever run: $(…) is text. A secret that is only the default is not
// asked for where the variable is set.
func Expand(ctx context.Context, text string, env func(string) (string, bool), secret func(context.Context, string) (string, error)) (string, error) {
	var b strings.Builder
	for at := 0; ; {
		name, def, begin, end := secretDefault(text, at)
		if begin < 0 {
			rest, err := expand(ctx, text[at:], env, secret)
			b.WriteString(rest)
			return b.String(), err
		}
		before, err := expand(ctx, text[at:begin], env, secret)
		if err != nil {
			return "", err
		}
		value, _ := env(name)
		if value == "" {
			if value, err = expand(ctx, def, env, secret); err != nil {
				return "", err
			}
		}
		b.WriteString(before + value)
		at = end
	}
}

// secretDefault finds the next variable whose default is a secret.
func secretDefault(text string, from int) (name, def string, begin, end int) {
	for _, m := range variable.FindAllStringSubmatchIndex(text[from:], -1) {
		if m[6] < 0 || !strings.HasPrefix(text[from+m[6]:from+m[7]], "${secret:") || strings.HasPrefix(text[from+m[0]:], "$$") {
			continue
		}
		return text[from+m[2] : from+m[3]], text[from+m[6] : from+m[7]], from + m[0], from + m[1]
	}
	return "", "", -1, -1
}

func expand(ctx context.Context, text string, env func(string) (string, bool), secret func(context.Context, string) (string, error)) (string, error) {
	parts, err := vault.ParseText(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, p := range parts {
		if p.Secret != "" {
			value, err := secret(ctx, p.Secret)
			if err != nil {
				return "", fmt.Errorf("${secret:%s}: %w", p.Secret, err)
			}
			b.WriteString(value)
			continue
		}
		plain, err := ExpandVariables(p.Text, env)
		if err != nil {
			return "", err
		}
		b.WriteString(plain)
	}
	return b.String(), nil
}

func ExpandVariables(text string, env func(string) (string, bool)) (string, error) {
	var missing string
	out := variable.ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:] // meant as it stands, less that $
		}
		m := variable.FindStringSubmatch(found)
		if value, ok := env(m[1]); ok && (value != "" || m[2] == "") {
			return value
		}
		if m[2] == "" && missing == "" {
			missing = m[1]
		}
		return m[3]
	})
	if missing != "" {
		return "", fmt.Errorf("the variable %s is not set; set it, or write ${%s:-default}", missing, missing)
	}
	return out, nil
}
