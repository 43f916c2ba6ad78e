package wire

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/toolcrib/toolcrib/model"
)

func events(r io.Reader) (out []string, err error) {
	e := NewEvents(r)
	for {
		one, err := e.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, one.Name+"="+string(one.Data))
	}
}

func TestEvents(t *testing.T) {
	for in, want := range map[string]string{
		"data: a\n\n":                                    "=a",
		"data:a\r\rdata:  b\r\r":                         "=a, = b",
		"\ufeffdata: a\r\n\r\nevent: x\ndata: b\n\n":     "=a, x=b",
		": comment\n\nevent: lost\n\ndata: a\nid: 7\n\n": "=a",
		"data: a\ndata: b\ndata\n\n":                     "=a\nb\n",
		"data: last":                                     "=last",
		"data: last\n":                                   "=last",
		"dat: a\n\n":                                     "",
		"data\n\n":                                       "=",
		"event: ping\r\ndata: {}\r\n\r\ndata: [DONE]\r\n": "ping={}, =[DONE]",
		"\n\n\n": "", "": "", "\r\n": "",
	} {
		got, err := events(strings.NewReader(in))
		if err != nil || strings.Join(got, ", ") != want {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "\ufeffdata:a\r\revent: x\r\ndata: b", ": c\n\ndata\n\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		one, err := events(strings.NewReader(in))
		two, err2 := events(iotest.OneByteReader(strings.NewReader(in)))
		if (err == nil) != (err2 == nil) || strings.Join(one, "\x00") != strings.Join(two, "\x00") {
			t.Fatalf("%q %v, %q %v", one, err, two, err2)
		}
	})
}

// FuzzFault: whatever the body of an error is, its text is short and can be shown.
func FuzzFault(f *testing.F) {
	for _, s := range []string{`{"error":{"message":"m","type":"t","code":1,"details":[{"retryDelay":"3s","reason":"R"}]}}`, `{"error":"x"}`, `{"object":"error","message":"m"}`, `{"detail":[1]}`, `[{"error":{}}]`, "<html>", "\x1b[0m"} {
		f.Add(s, 400)
	}
	f.Fuzz(func(t *testing.T, in string, status int) {
		e := Refused(status, http.Header{"Retry-After": {in}}, []byte(in))
		if len(e.Message) > 2000 || strings.ContainsAny(e.Message, "\x00\x1b\n\u202e") || e.Kind == "" || e.Wait < 0 {
			t.Fatalf("%+v", e)
		}
	})
}

// TestKinds: what services and the programs in front of them really say.
func TestKinds(t *testing.T) {
	for _, s := range []struct {
		status int
		body   string
		kind   string
	}{
		{400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`, model.TooLong}, // vLLM
		{400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9,"n_ctx":4}}`, model.TooLong},
		{500, `{"error":{"code":500,"message":"the request exceeds the available context size","type":"server_error"}}`, model.TooLong}, // llama.cpp, older
		{400, `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`, model.TooLong},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`, model.TooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit: 199000 + 8192 > 200000"}}`, model.TooLong},
		{400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API."}}`, model.BadKey},
		{429, `{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, model.BadKey},
		{402, `{"error":{"message":"Insufficient credits","code":402}}`, model.BadKey},
		{429, `{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000","type":"tokens","code":"rate_limit_exceeded"}}`, model.Busy},
		{404, `{"error":{"message":"model \"x\" not found, try pulling it first","type":"api_error"}}`, model.BadRequest}, // Ollama
		{503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`, model.Busy},                  // llama.cpp
		{502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream overloaded"}}}`, model.Busy},
		{422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`, model.BadRequest},
		{403, `{"error":{"message":"Country, region, or territory not supported","code":"unsupported_country_region_territory"}}`, model.BadKey},
		{500, ``, model.Broken}, {504, "<html>", model.Broken}, {301, "", model.BadRequest},
	} {
		if e := Refused(s.status, nil, []byte(s.body)); e.Kind != s.kind {
			t.Errorf("%d %s: %s", s.status, s.body, e.Kind)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"7": 7 * time.Second, "0.5": 500 * time.Millisecond, "": 0, "-3": 0, "soon": 0, "NaN": 0, "1e300": 1e6 * time.Second,
		"Thu, 01 Jan 2026 00:01:00 GMT": time.Minute, "Thu, 01 Jan 2025 00:01:00 GMT": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {value}}, func() time.Time { return now }); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
	if got := retryAfter(http.Header{"Retry-After-Ms": {"250"}}, time.Now); got != 250*time.Millisecond {
		t.Error(got)
	}
}
