package openapi

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib"
)

// preview says why a call would fail before anything is sent, so that nobody is asked
// about it: its arguments make no request, its host is out of reach, or a secret is not
// there. It sends nothing, and shows nothing: the arguments say it all.
func (t *tool) preview(ctx context.Context, env *toolcrib.Env, input json.RawMessage) (string, error) {
	args := map[string]json.RawMessage{}
	if len(input) > 0 {
		if err := json.Unmarshal(input, &args); err != nil {
			return "", invalid("the arguments have to be an object")
		}
	}
	c := &call{tool: t, env: handles{Env: env}}
	if err := c.reserved(args); err != nil {
		return "", err
	}
	if t.box.needs.Reaches != nil {
		if err := t.box.needs.Reaches(t.op.Base); err != nil {
			return "", t.box.named(err)
		}
	}
	if _, err := c.encode(args); err != nil {
		return "", err
	}
	if t.box.needs.HasSecret == nil || !t.box.home[hostOf(t.op.Base)] { // a host that is not the API's own gets none
		return "", nil
	}
	use, _ := t.box.credentials(t.op)
	for _, name := range use {
		if secret := t.box.cfg.Auth[name].Secret; secret != "" {
			if err := t.box.needs.HasSecret(ctx, env.Call, t.name, secret); err != nil {
				return "", err
			}
		}
	}
	return "", nil
}
