package toolapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/schema"
	"github.com/toolcrib/toolcrib/internal/serve/httpapi"
	"github.com/toolcrib/toolcrib/internal/worker"
)

// PermissionsPath answers what would become of a call.
const PermissionsPath = "/v1/permissions"

// permission is what would become of a call. Exactly one of the three is true.
type permission struct {
	Tool     string            `json:"tool"`
	Decision toolcrib.Decision `json:"decision"`
	Allowed  bool              `json:"is_allowed"`     // it would run unasked
	Blocked  bool              `json:"is_blocked"`     // it would be refused
	Asks     bool              `json:"needs_approval"` // a person would be asked first
	Reasons  []permissionWhy   `json:"reasons,omitempty"`
	Error    *problem          `json:"error,omitempty"` // why it would not even be judged
}

// permissionWhy is one of the guards that decided. Those that only noted
// something, or were overruled by a stricter one, are for the journal.
type permissionWhy struct {
	Guard  string `json:"guard"`
	Rule   string `json:"rule,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// A request waits no longer for a judgement than judgeTime. A guard cannot be stopped,
// so no more than maxJudgements are at work at a time, those included that nobody waits
// for any more: however many requests come, they take no more of the machine.
const (
	judgeTime     = 5 * time.Second
	maxJudgements = 8
)

// judge asks what would become of a call, within these bounds.
func (c Config) judge(ctx context.Context, call toolcrib.Call) (toolcrib.Judgement, error) {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.judgeTime, judgeTime))
	defer cancel()
	select {
	case c.judging <- struct{}{}:
	case <-ctx.Done():
		return toolcrib.Judgement{}, overdue{&toolcrib.Error{Code: toolcrib.CodeUnavailable, Tool: call.Tool, Message: "too many calls are being judged; try again later"}}
	}
	judge := c.Judge
	if judge == nil {
		judge = c.Crib.Judge
	}
	judgement, err := worker.Within(ctx, func() (toolcrib.Judgement, error) {
		defer func() { <-c.judging }()
		return judge(ctx, call)
	})
	if err != nil && ctx.Err() != nil {
		err = overdue{&toolcrib.Error{Code: toolcrib.CodeTimeout, Tool: call.Tool, Message: "the call could not be judged in time", Err: err}}
	}
	return judgement, err
}

// overdue: the call was not judged, so that nothing is known about it.
type overdue struct{ error }

func (o overdue) Unwrap() error { return o.error }

// permissions judges the call of a request and makes it not.
func (c Config) permissions(w http.ResponseWriter, r *http.Request) {
	body, ok := c.body(w, r)
	if !ok {
		return
	}
	call, err := readPermission(body)
	if err != nil {
		httpapi.Fail(w, http.StatusBadRequest, `want {"tool": NAME, "args": {…}}: `+err.Error())
		return
	}
	call.Caller = c.caller(r)
	call.Lenient = c.lenient(call.Caller.Dialect)
	p, err := c.judged(r, call)
	if err != nil {
		refuse(w, err)
		return
	}
	text, err := json.Marshal(p)
	if err != nil {
		httpapi.Fail(w, http.StatusInternalServerError, "the answer cannot be written")
		return
	}
	send(w, http.StatusOK, text)
}

// readPermission reads which call is meant.
func readPermission(body []byte) (call toolcrib.Call, err error) {
	doc, err := schema.Parse(body, schema.Limits{}) // what two readers could take for two calls is none
	if err != nil {
		return call, errors.New("it is not JSON that every reader reads alike")
	}
	doc.Release()
	var asked struct {
		Tool *string         `json:"tool"`
		Args json.RawMessage `json:"args"`
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	switch err := dec.Decode(&asked); {
	case err != nil:
		return call, errors.New("it is not such an object")
	case asked.Tool == nil || *asked.Tool == "":
		return call, errors.New("tool is missing")
	}
	if len(asked.Args) == 0 || string(asked.Args) == "null" {
		asked.Args = json.RawMessage("{}")
	}
	if asked.Args[0] != '{' {
		return call, errors.New("args is no object")
	}
	return toolcrib.Call{Tool: *asked.Tool, Input: asked.Args}, nil
}

// judged asks the guards. What they say is cleaned as it is for who makes the call.
func (c Config) judged(r *http.Request, call toolcrib.Call) (permission, error) {
	p := permission{Tool: call.Tool}
	judgement, err := c.judge(r.Context(), call)
	if err != nil {
		_, late := errors.AsType[overdue](err)
		if _, ok := toolcrib.AsError(err); late || !ok || toolcrib.CodeOf(err) == toolcrib.CodeInternal {
			return p, err
		}
		told := problemOf(err)
		told.Message = c.clean(told.Message)
		for i := range told.Fields {
			told.Fields[i].Path, told.Fields[i].Message = c.clean(told.Fields[i].Path), c.clean(told.Fields[i].Message)
		}
		p.Error = &told
	}
	p.Decision = judgement.Decision
	p.Allowed, p.Asks = p.Decision == toolcrib.Allow, p.Decision == toolcrib.Ask
	p.Blocked = !p.Allowed && !p.Asks
	for _, v := range judgement.Verdicts {
		if v.Decision == p.Decision && !v.Note {
			p.Reasons = append(p.Reasons, permissionWhy{v.Guard, c.clean(v.Rule), c.clean(strings.ReplaceAll(v.Reason, "\n", "; "))})
		}
	}
	return p, nil
}

func (c Config) clean(text string) string {
	if c.Crib.RedactText == nil {
		return redact.Text(text)
	}
	return c.Crib.RedactText(text)
}

// permissionOperation is the route in the document.
func permissionOperation() object {
	answers := object{"200": answer("What would become of the call. Exactly one of is_allowed, is_blocked and needs_approval is true.", ref("Permission"))}
	for _, status := range []int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusMethodNotAllowed, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusInternalServerError, http.StatusServiceUnavailable, http.StatusGatewayTimeout} {
		answers[fmt.Sprint(status)] = answer(http.StatusText(status), ref("Error"))
	}
	return object{
		"operationId": "toolcrib.permissions",
		"summary":     "What would become of a call",
		"description": "Judges a call as the caller's own and makes it not: nothing runs, nothing is recorded and nobody is asked.",
		"requestBody": object{"required": true, "content": object{"application/json": object{"schema": object{
			"type": "object", "required": []string{"tool"}, "additionalProperties": false,
			"properties": object{"tool": object{"type": "string", "minLength": 1}, "args": object{"type": []string{"object", "null"}}},
		}}}},
		"responses": answers,
	}
}

func permissionSchema() object {
	text, yes := object{"type": "string"}, object{"type": "boolean"}
	return object{"type": "object", "required": []string{"tool", "decision", "is_allowed", "is_blocked", "needs_approval"}, "properties": object{
		"tool": text, "decision": object{"enum": []string{"allow", "ask", "deny"}}, "is_allowed": yes, "is_blocked": yes, "needs_approval": yes,
		"reasons": object{"type": "array", "items": object{"type": "object", "required": []string{"guard"}, "properties": object{"guard": text, "rule": text, "reason": text}}},
		"error":   object{"$ref": "#/components/schemas/Error/properties/error"},
	}}
}
