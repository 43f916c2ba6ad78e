package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/toolcrib/toolcrib/internal/modeltest"
)

// sdkPackages has the SDKs of OpenAI, Anthropic and Google, and all that they need, of
// exact versions.
const sdkPackages = "testdata/models/requirements.txt"

// modelSDKs makes sure that they are there, in an environment of their own.
func modelSDKs(t testing.TB) environment {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	e, err := installBeside(ctx, genuine(t).base, "sdks", sdkPackages)
	if err != nil {
		t.Fatalf("installing the SDKs of models from PyPI: %v", err)
	}
	return e
}

// installBeside makes an environment with a list of packages beside the one of the
// genuine toolboxes, unless it is there.
func installBeside(ctx context.Context, base environment, name, packages string, flags ...string) (environment, error) {
	var e environment
	list, err := os.ReadFile(packages)
	if err != nil {
		return e, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n", list, base.python))
	dir := filepath.Join(filepath.Dir(filepath.Dir(base.dir)), fmt.Sprintf("%s-%x", name, sum[:8]))
	unlock, err := lockedfile.MutexAt(dir + ".lock").Lock() // two runs of the tests at once
	if err != nil {
		return e, err
	}
	defer unlock()
	mark := filepath.Join(dir, "complete")
	if _, err := os.Stat(mark); err == nil {
		return e, e.at(dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return e, err
	}
	if err := makeEnvironment(ctx, base.python, dir, &e); err != nil {
		return e, err
	}
	e.pip = base.pip
	return e, errors.Join(e.install(ctx, append([]string{"--requirement", packages}, flags...)...), os.WriteFile(mark, nil, 0o644))
}

// sdkTurns is what the scripted model answers, by what it is asked.
func sdkTurns() map[string]modeltest.Turn {
	use := modeltest.Usage{Input: 900, Output: 70, CacheRead: 512}
	turns := map[string]modeltest.Turn{
		"text":     {Text: "Grüße aus 東京 👋🏽, \"quoted\" <&>\nnext line", Usage: use},
		"split":    {Text: "ä東👋 split anywhere", Chunk: 1, Piece: 1, Usage: use},
		"call":     {Calls: []modeltest.Call{{Name: "read"}}, Usage: use},
		"parallel": {Text: "Let me look.", Calls: []modeltest.Call{{Name: "read", Arguments: `{"path":"ä b","n":[1,2.5,null]}`}, {Name: "read", Arguments: `{"path":"c"}`}}, Usage: use, Piece: 3, Chunk: 5},
		"thought":  {Thought: "hm, 日本", Signature: "c2lnbmVk", Text: "yes", Usage: use},
		"length":   {Text: "cut off at", Stop: "length", Usage: use},
		"refused":  {Text: "I", Stop: "refused", Usage: use},
	}
	for _, fail := range []string{modeltest.RateLimit, modeltest.Overloaded, modeltest.Internal, modeltest.BadKey, modeltest.BadRequest, modeltest.TooLong, modeltest.NoModel} {
		turns["fail "+fail] = modeltest.Turn{Fail: fail}
	}
	turns["late"] = modeltest.Turn{Text: "one two three", FailLate: modeltest.Overloaded}
	return turns
}

type sdkLine struct {
	Scenario  string `json:"scenario"`
	Stream    bool   `json:"stream"`
	Text      string `json:"text"`
	Thought   string `json:"thought"`
	Signature string `json:"signature"`
	Calls     []struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"calls"`
	Stop    string `json:"stop"`
	Input   int    `json:"input"`
	Output  int    `json:"output"`
	Cached  int    `json:"cached"`
	Error   string `json:"error"`
	Status  any    `json:"status"`
	Message string `json:"message"`
}

// TestGenuineModelSDKs: the SDKs of OpenAI, Anthropic and Google understand all that the
// scripted model sends, so that what we speak is what they speak.
func TestGenuineModelSDKs(t *testing.T) {
	python, turns := modelSDKs(t).python, sdkTurns()
	names := slices.Sorted(maps.Keys(turns))
	stops := map[string]map[string]string{
		"openai":    {"": "stop", "calls": "tool_calls", "length": "length", "refused": "content_filter"},
		"anthropic": {"": "end_turn", "calls": "tool_use", "length": "max_tokens", "refused": "refusal"},
		"gemini":    {"": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"},
	}
	// What the SDKs raise, whole and in a stream.
	raised := map[string]map[string]string{
		"openai":    {"rate_limit": "RateLimitError", "overloaded": "InternalServerError", "internal": "InternalServerError", "bad_key": "AuthenticationError", "bad_request": "BadRequestError", "too_long": "BadRequestError", "no_model": "NotFoundError"},
		"anthropic": {"rate_limit": "RateLimitError", "overloaded": "OverloadedError", "internal": "InternalServerError", "bad_key": "AuthenticationError", "bad_request": "BadRequestError", "too_long": "BadRequestError", "no_model": "NotFoundError"},
		"gemini":    {"rate_limit": "ClientError", "overloaded": "ServerError", "internal": "ServerError", "bad_key": "ClientError", "bad_request": "ClientError", "too_long": "ClientError", "no_model": "ClientError"},
	}
	for _, api := range []string{"openai", "anthropic", "gemini"} {
		t.Run(api, func(t *testing.T) {
			s := modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Turn { return turns[r.Last()] })
			cmd := exec.CommandContext(t.Context(), python, append([]string{"testdata/models/sdk.py", api, s.Base(api)}, names...)...)
			cmd.Env = append(os.Environ(), "NO_PROXY=127.0.0.1", "no_proxy=127.0.0.1", "PYTHONUTF8=1")
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			seen := 0
			for line := range strings.Lines(string(out)) {
				var got sdkLine
				if err := json.Unmarshal([]byte(line), &got); err != nil {
					t.Fatalf("%v: %s", err, line)
				}
				seen++
				turn := turns[got.Scenario]
				if fail, ok := strings.CutPrefix(got.Scenario, "fail "); ok {
					if got.Error != raised[api][fail] || got.Status == nil {
						t.Errorf("%s is %s (%v): %s", got.Scenario, got.Error, got.Status, got.Message)
					}
					continue
				}
				if got.Scenario == "late" {
					if got.Stream && got.Error == "" {
						t.Errorf("an error in the middle of a stream is not seen: %s", line)
					}
					continue
				}
				checkSDK(t, api, turn, got, stops[api])
			}
			if seen != 2*len(names) {
				t.Errorf("%d lines for %d scenarios", seen, len(names))
			}
		})
	}
}

// checkSDK holds what an SDK understood against what was said.
func checkSDK(t *testing.T, api string, turn modeltest.Turn, got sdkLine, stops map[string]string) {
	t.Helper()
	if got.Error != "" {
		t.Errorf("%s (stream %v): %s: %s", got.Scenario, got.Stream, got.Error, got.Message)
		return
	}
	stop := stops[turn.Stop]
	if len(turn.Calls) > 0 {
		stop = stops["calls"]
	}
	if got.Stop != stop {
		t.Errorf("%s (stream %v) stopped by %q, want %q", got.Scenario, got.Stream, got.Stop, stop)
	}
	if api == "openai" && turn.Stop == "refused" && got.Stream {
		return // the SDK gives no more than that
	}
	var names, want []string
	for _, c := range got.Calls {
		names = append(names, c.Name+compact(string(c.Arguments)))
	}
	for _, c := range turn.Calls {
		arguments := c.Arguments
		if arguments == "" {
			arguments = "{}"
		}
		want = append(want, c.Name+compact(arguments))
	}
	if got.Text != turn.Text || got.Thought != turn.Thought || api == "anthropic" && got.Signature != turn.Signature || !cmp.Equal(names, want) || got.Input != 900 || got.Output != 70 || got.Cached != 512 {
		t.Errorf("%s (stream %v): %+v", got.Scenario, got.Stream, got)
	}
}

// compact writes JSON in one way.
func compact(s string) string {
	var v any
	if json.Unmarshal([]byte(s), &v) != nil {
		return s
	}
	out, err := json.Marshal(v)
	if err != nil {
		return s
	}
	return string(out)
}
