package vault

import (
	"errors"
	"testing"

	"github.com/zalando/go-keyring"
)

// TestUnread: a keyring that cannot be asked is told from one that has no such key.
func TestUnread(t *testing.T) {
	for _, c := range []struct {
		err    error
		unread bool
	}{{keyring.ErrNotFound, false}, {errors.New("no bus"), true}} {
		keys := fromRing(ring{get: func(string, string) (string, error) { return "", c.err }})
		_, err := keys.find(t.Context(), header{Key: "k"})
		if !errors.Is(err, ErrKey) || errors.Is(err, ErrUnread) != c.unread || c.unread && !errors.Is(err, c.err) {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}
