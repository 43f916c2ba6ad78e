package opened

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestPresent: who watches is noticed, and so is that they have left, or were killed.
func TestPresent(t *testing.T) {
	state := t.TempDir()
	if watched(state, time.Now()) {
		t.Error("nobody watches yet")
	}
	if err := os.Mkdir(filepath.Join(state, "desk"), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	ended := Present(ctx, state)
	for end := time.Now().Add(30 * time.Second); !watched(state, time.Now()); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("nobody notices")
		}
	}
	now := time.Now()
	if watched(state, now.Add(presentFor+time.Minute)) || watched(state, now.Add(-presentFor-time.Minute)) {
		t.Error("what was said long ago counts")
	}
	leave()
	<-ended
	if watched(state, time.Now()) {
		t.Error("it is still said that somebody watches")
	}
}
