package oidc

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestForeignWordsAreCutWhole: a stranger's word that is said again is cut between
// characters, not inside of one.
func TestForeignWordsAreCutWhole(t *testing.T) {
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"x` + strings.Repeat("é", 40) + `"}`))
	_, err := parse(header + ".e30.AA")
	if err == nil || !strings.Contains(err.Error(), `"x`+strings.Repeat("é", 9)+`…"`) {
		t.Errorf("got %v", err)
	}
}
