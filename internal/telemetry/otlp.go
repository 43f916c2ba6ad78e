package telemetry

import (
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// The request of OTLP over HTTP in its JSON form: numbers of 64 bits are texts,
// and IDs are hexadecimal and not base64 as elsewhere in such JSON.

type otlpRequest struct {
	Resources []otlpResource `json:"resourceSpans"`
}

type otlpResource struct {
	Resource struct {
		Attributes []otlpAttr `json:"attributes,omitempty"`
	} `json:"resource"`
	Scopes []otlpScope `json:"scopeSpans"`
}

type otlpScope struct {
	Scope struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	} `json:"scope"`
	Spans []otlpSpan `json:"spans"`
}

type otlpSpan struct {
	Trace      string      `json:"traceId"`
	Span       string      `json:"spanId"`
	State      string      `json:"traceState,omitempty"`
	Parent     string      `json:"parentSpanId,omitempty"`
	Flags      uint32      `json:"flags,omitempty"`
	Name       string      `json:"name"`
	Kind       int         `json:"kind"`
	Start      string      `json:"startTimeUnixNano"`
	End        string      `json:"endTimeUnixNano"`
	Attributes []otlpAttr  `json:"attributes,omitempty"`
	Events     []otlpEvent `json:"events,omitempty"`
	Links      []otlpLink  `json:"links,omitempty"`
	Status     *otlpStatus `json:"status,omitempty"`
}

type otlpEvent struct {
	Time       string     `json:"timeUnixNano"`
	Name       string     `json:"name"`
	Attributes []otlpAttr `json:"attributes,omitempty"`
}

type otlpLink struct {
	Trace string `json:"traceId"`
	Span  string `json:"spanId"`
	State string `json:"traceState,omitempty"`
}

type otlpStatus struct {
	Message string `json:"message,omitempty"`
	Code    int    `json:"code"`
}

type otlpAttr struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

// otlpValue is one of them.
type otlpValue struct {
	Text *string `json:"stringValue,omitempty"`
	Int  *string `json:"intValue,omitempty"`
	Bool *bool   `json:"boolValue,omitempty"`
}

const statusError = 2

// encode writes spans as one request. What is no UTF-8 is replaced: one bad text
// must not cost the others.
func encode(resource []attr, version string, spans []*span) ([]byte, error) {
	var r otlpResource
	r.Resource.Attributes = encodeAttrs(resource)
	var scope otlpScope
	scope.Scope.Name, scope.Scope.Version = "github.com/toolcrib/toolcrib", version
	scope.Spans = make([]otlpSpan, 0, len(spans))
	for _, s := range spans {
		scope.Spans = append(scope.Spans, encodeSpan(s))
	}
	r.Scopes = []otlpScope{scope}
	return json.Marshal(otlpRequest{[]otlpResource{r}})
}

func encodeSpan(s *span) otlpSpan {
	out := otlpSpan{
		Trace: hex.EncodeToString(s.at.Trace[:]), Span: hex.EncodeToString(s.at.Span[:]), State: s.at.State, Flags: 1,
		Name: s.name, Kind: s.kind, Start: nanos(s.start), End: nanos(s.end), Attributes: encodeAttrs(s.attrs),
	}
	if s.parent != [8]byte{} {
		out.Parent = hex.EncodeToString(s.parent[:])
	}
	if s.link.Valid() {
		out.Links = []otlpLink{{hex.EncodeToString(s.link.Trace[:]), hex.EncodeToString(s.link.Span[:]), s.link.State}}
	}
	for _, e := range s.events {
		out.Events = append(out.Events, otlpEvent{nanos(e.at), e.name, encodeAttrs(e.attrs)})
	}
	if s.failed {
		out.Status = &otlpStatus{s.why, statusError}
	}
	return out
}

func encodeAttrs(attrs []attr) []otlpAttr {
	out := make([]otlpAttr, 0, len(attrs))
	for _, a := range attrs {
		var v otlpValue
		switch x := a.value.(type) {
		case string:
			v.Text = &x
		case int64:
			text := strconv.FormatInt(x, 10)
			v.Int = &text
		case bool:
			v.Bool = &x
		}
		out = append(out, otlpAttr{a.key, v})
	}
	return out
}

// nanos is a time as the protocol has it; one before 1970 cannot be said.
func nanos(t time.Time) string { return strconv.FormatInt(max(t.UnixNano(), 0), 10) }
