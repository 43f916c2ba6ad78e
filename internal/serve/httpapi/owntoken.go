package httpapi

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/toolcrib/toolcrib/internal/durable"
	"github.com/toolcrib/toolcrib/internal/plainfile"
	"github.com/toolcrib/toolcrib/internal/rewrite"
)

// The token of the person whose server this is. Every account of a machine
// reaches its loopback addresses; what only this account can read tells its own
// clients from those of others.

// ownTokenPrefix lets people and scanners see what a text like this is.
const ownTokenPrefix = "toolcrib_"

// OwnTokenFile is where the token lies.
func OwnTokenFile(state string) string { return filepath.Join(state, "serve-token") }

// NewToken makes a token that nobody can guess.
func NewToken() string { return ownTokenPrefix + rand.Text() + rand.Text() }

func freshToken() []byte { return []byte(NewToken() + "\n") }

// OwnToken gives the person's own token, and makes it the first time.
func OwnToken(state string) (string, error) {
	text, err := durable.Once(OwnTokenFile(state), maxOwnToken, freshToken)
	if err != nil {
		return "", fmt.Errorf("the token for your own clients: %w", err)
	}
	return checkOwnToken(OwnTokenFile(state), text)
}

// NewOwnToken puts another token in its place. The one before opens nothing any
// more, in a running server within seconds.
func NewOwnToken(state string) (string, error) {
	if err := os.MkdirAll(state, 0o700); err != nil {
		return "", fmt.Errorf("the token for your own clients: %w", err)
	}
	text := freshToken()
	if err := rewrite.Replace(OwnTokenFile(state), text, 0o600); err != nil {
		return "", fmt.Errorf("the token for your own clients: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}

// ReadOwnToken gives the token that is there now; empty: there is none any more.
func ReadOwnToken(state string) (string, error) {
	text, err := plainfile.Begin(OwnTokenFile(state), maxOwnToken)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("the token for your own clients: %w", err)
	}
	return checkOwnToken(OwnTokenFile(state), text)
}

const (
	minOwnToken = 20 // what is shorter could be found by trying
	maxOwnToken = 4 << 10
)

// checkOwnToken refuses a token that others could have read, or guess.
func checkOwnToken(file string, text []byte) (string, error) {
	const help = "'toolcrib token new' makes another, and 'toolcrib connect CLIENT --http' gives it to a client"
	token := strings.TrimSpace(string(text))
	if len(token) < minOwnToken || len(text) > maxOwnToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s holds no token: %s", file, help)
	}
	if runtime.GOOS == "windows" { // who may read is a matter of lists there
		return token, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("the token for your own clients: %w", err)
	}
	if others := info.Mode().Perm() & 0o077; others != 0 {
		return "", fmt.Errorf("%s can be read or changed by other accounts (mode %04o), so its token is not used: %s", file, info.Mode().Perm(), help)
	}
	return token, nil
}
