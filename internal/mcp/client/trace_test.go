package client

import (
	"encoding/json"
	"testing"

	"github.com/toolcrib/toolcrib/internal/trace"
)

// A server is told where in a trace it is asked, by us alone: what the caller put
// there is not what happens here.
func TestTraceIsPassedOn(t *testing.T) {
	at, ok := trace.Parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "a=b")
	if !ok {
		t.Fatal("no place")
	}
	params := json.RawMessage(`{"name":"x","_meta":{"traceparent":"theirs","tracestate":"theirs","k":1}}`)
	for _, c := range []struct {
		at   trace.Context
		want string
	}{
		{at, `{"name":"x","_meta":{"k":1,"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=b"}}`},
		{trace.Context{Trace: at.Trace, Span: at.Span}, `{"name":"x","_meta":{"k":1,"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00"}}`},
		{trace.Context{}, string(params)}, // nobody traces
	} {
		got, err := (&requestExtras{at: c.at}).params(params)
		if err != nil || string(got) != c.want {
			t.Errorf("got %s, %v\nwant %s", got, err, c.want)
		}
	}
}
