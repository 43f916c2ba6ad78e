package dialect

import (
	"encoding/json"
	"slices"

	"github.com/toolcrib/toolcrib"
)

// noticed has every adapter keep what vetters said about a result, such as that it comes from
// outside. Adapters read the value, and most answer with a text of their own.
func noticed(list []toolcrib.Adapter) []toolcrib.Adapter {
	for i := range list {
		out := list[i].Out
		if out == nil {
			continue
		}
		list[i].Out = func(input json.RawMessage, native *toolcrib.Result) (*toolcrib.Result, error) {
			result, err := out(input, native)
			if err != nil || result == nil {
				return result, err
			}
			return withNotices(result, native), nil
		}
	}
	return list
}

// withNotices puts what vetters said of a native result before what a dialect made of it.
func withNotices(r, native *toolcrib.Result) *toolcrib.Result {
	isNotice := func(c toolcrib.Content) bool { return c.Notice }
	if !slices.ContainsFunc(native.Content, isNotice) || slices.ContainsFunc(r.Content, isNotice) {
		return r
	}
	out := *r
	out.Content = slices.DeleteFunc(slices.Clone(native.Content), func(c toolcrib.Content) bool { return !c.Notice })
	if len(r.Content) == 0 && r.Value != nil { // models are shown the texts
		out.Content = append(out.Content, toolcrib.Content{Type: "text", Text: string(r.Value)})
	}
	out.Content = append(out.Content, r.Content...)
	return &out
}

// failure is the text of a native tool that failed. What vetters said about it is no part of
// it, and comes with the answer all the same.
func failure(native *toolcrib.Result) string {
	own := *native
	own.Content = slices.DeleteFunc(slices.Clone(native.Content), func(c toolcrib.Content) bool { return c.Notice })
	return own.String()
}
