package meet

import (
	"slices"
	"testing"
	"time"
)

func TestMeet(t *testing.T) {
	for _, tt := range []struct{ a, b, want []string }{
		{[]string{"*"}, []string{"x", "y"}, []string{"x", "y"}},
		{[]string{"x", "z"}, []string{"x", "y"}, []string{"x"}},
		{[]string{"*", "x"}, []string{"*", "x"}, []string{"*"}},
		{nil, []string{"*"}, nil},
	} {
		if got := Names(tt.a, tt.b, Word); !slices.Equal(got, tt.want) {
			t.Errorf("%v and %v: %v", tt.a, tt.b, got)
		}
	}
	if got := Both([]string{"b", "a"}, []string{"a", "c"}); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Error(got)
	}
	for _, tt := range [][3]time.Duration{{0, 2, 2}, {2, 0, 2}, {3, 2, 2}, {2, 3, 2}} {
		if got := Times(tt[0], tt[1]); got != tt[2] {
			t.Errorf("%v: %v", tt, got)
		}
	}
}
