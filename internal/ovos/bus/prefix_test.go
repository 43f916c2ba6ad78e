package bus

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPrefixesChooseTypes(t *testing.T) {
	server := startBus(t, ServerConfig{})
	c := server.client(t, nil)
	some := c.Subscribe(Filter{Types: []string{"exact", "tools.list"}, Prefixes: []string{"tools.", "persona."}})
	only := c.Subscribe(Filter{Prefixes: []string{"persona."}})
	last := c.Subscribe(Filter{Types: []string{"end"}})
	sender := server.connect(t)
	for _, typ := range []string{"tools.list", "tools", "exact", "exactly", "persona.tools.call", "xpersona.tools", "end"} {
		sender.send(`{"type":"` + typ + `"}`)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := last.Next(ctx); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		sub  *Subscription
		want []string
	}{
		{some, []string{"tools.list", "exact", "persona.tools.call"}}, // each once
		{only, []string{"persona.tools.call"}},
	} {
		tt.sub.Close()
		var got []string
		for {
			m, err := tt.sub.Next(ctx)
			if err != nil {
				break
			}
			got = append(got, m.Type)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	server.stop()
	sub := c.Subscribe(Filter{Prefixes: []string{"tools."}})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := sub.Next(ctx); err == nil {
		t.Error("a subscription with prefixes outlives its client")
	}
}
