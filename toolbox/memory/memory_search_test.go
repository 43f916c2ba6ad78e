package memory

import (
	"errors"
	"testing"
)

func TestMemorySearch(t *testing.T) {
	s := &shelf{notes: []Note{{Text: "tea at five", By: ByPerson, File: "ann/a"}, {Text: "tea is hot", By: ByUntrusted, Warning: "mind", File: "ann/b"}, {Text: "tea", By: ByAgent, File: "bob/a"}}}
	x := tool(t, s, "memory_search")
	for in, want := range map[string]string{
		`{"query":"tea","limit":5}`:    `{"notes":[{"text":"tea at five","by":"person","file":"ann/a","score":0},{"text":"tea is hot","by":"untrusted","warning":"mind","file":"ann/b","score":0}]}`,
		`{"query":"tea","limit":1}`:    `{"notes":[{"text":"tea at five","by":"person","file":"ann/a","score":0}],"more":1}`,
		`{"query":"coffee","limit":1}`: `{"notes":[]}`,
	} {
		if got, err := x.Run(t.Context(), as("ann", ""), raw(in)); err != nil || string(got.Value) != want {
			t.Errorf("%s: %+v, %v", in, got, err)
		}
	}
	s.err = errors.New("it cannot be read")
	if got, err := x.Run(t.Context(), as("ann", ""), raw(`{"query":"tea"}`)); err == nil && !got.Failed {
		t.Error("a failure was not told")
	}
}
