package shellguard

import (
	"regexp"
	"testing"
)

func TestLazyRegexps(t *testing.T) {
	if len(lazyRegexps) < 30 {
		t.Errorf("only %d", len(lazyRegexps))
	}
	for _, r := range lazyRegexps {
		if _, err := regexp.Compile(r.text); err != nil {
			t.Error(err)
		}
	}
}
