package host_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
	"github.com/toolcrib/toolcrib/internal/ovos/bus"
	sentences "github.com/toolcrib/toolcrib/internal/spoken"
)

// TestRefusalsArePlaced: what a guard denies is told by one sentence where the contract
// of the tool has a place for it, and the guard's words are the detail.
func TestRefusalsArePlaced(t *testing.T) {
	guard := cribtest.Deny("because of 'rule_7' in /etc/x")
	r := furnish(t, setup{root: t.TempDir(), write: true, guards: []toolcrib.Guard{guard}})
	cfg := r.config()
	cfg.Speech.Lang = "de"
	url, _ := serve(t, cfg)
	s := ready(t, url)
	for _, lang := range []struct{ context, data, want string }{
		{`"session":{"session_id":"a","lang":"en-US"}`, "", "en"}, {`"session":{"session_id":"a","lang":"de-DE"}`, "", "de"}, {`"session":{"session_id":"a"}`, "", "de"},
		{`"session":{"session_id":"a","lang":"de-DE"},"lang":"en-GB"`, "", "en"}, {`"lang":"de","session":{"session_id":"a","lang":5}`, `"lang":"en",`, "en"},
		{`"session":{"session_id":"a","lang":"tlh"}`, "", "de"}, {`"session":{"session_id":"a","lang":"../en"}`, "", "de"},
	} {
		said := sentences.Say(lang.want, sentences.Denied)
		for call, want := range map[string]string{
			`"ovos-filesystem-tools", "name":"read_file", "kwargs":{"path":"a"}`:                            `{"content":"` + said + `","path":"a"}`,
			`"ovos-filesystem-tools", "name":"write_file", "kwargs":{"path":"a","content":"b"}`:             `{"success":false,"path":"a","message":"` + said + `"}`,
			`"ovos-shell-tools", "name":"run_command", "kwargs":{"command":"ls"}`:                           `{"stdout":"","stderr":"` + said + `","returncode":-1,"success":false}`,
			`"ovos-math-tools", "name":"evaluate_expression", "kwargs":{"expression":"1"}`:                  `{"result":null,"expression":"1","error":"` + said + `"}`,
			`"ovos-math-tools", "name":"unit_convert", "kwargs":{"value":1,"from_unit":"m","to_unit":"km"}`: `{"result":null,"from_unit":"m","to_unit":"km","category":"unknown","error":"` + said + `"}`,
			`"ovos-math-tools", "name":"solve_equation", "kwargs":{"equation":"x"}`:                         `{"solutions":[],"equation":"x","method":"numeric","error":"` + said + `"}`,
			`"ovos-math-tools", "name":"statistics_summary", "kwargs":{"numbers":[1]}`:                      `{"count":0,"mean":0,"median":0,"stdev":null,"minimum":0,"maximum":0,"total":0,"error":"` + said + `"}`,
			`"ovos-clock-tools", "name":"get_current_datetime", "kwargs":{}`:                                "",
			`"ovos-filesystem-tools", "name":"find_files", "kwargs":{"glob":"*"}`:                           "",
		} {
			s.send(`{"type":"ovos.persona.tools.call","data":{` + lang.data + `"toolbox_id":` + call + `},"context":{"mark":"m",` + lang.context + `}}`)
			got := s.next("ovos.persona.tools.call.response", "m").Data
			if want == "" {
				if got["error"] != said || got["result"] != nil {
					t.Errorf("%s: %v", call, got)
				}
			} else {
				var answer any
				if err := json.Unmarshal([]byte(want), &answer); err != nil {
					t.Fatal(err)
				}
				if got["error"] != nil || text(t, got["result"]) != text(t, answer) {
					t.Errorf("%s: %v, want %s", call, got, want)
				}
			}
			if detail, _ := got["detail"].(string); got["spoken"] != said || !strings.Contains(detail, "rule_7") {
				t.Errorf("%s: %v", call, got)
			}
		}
	}
}

// FuzzLangs: whatever a message says about languages, one of ours is spoken.
func FuzzLangs(f *testing.F) {
	f.Add([]byte(`{"type":"x","data":{"lang":"de"},"context":{"lang":"en","session":{"session_id":"a","lang":"de-DE"}}}`))
	f.Add([]byte(`{"type":"x","data":{"lang":{"a":1}},"context":{"lang":null,"session":{"lang":[1]}}}`))
	f.Add([]byte(`{"type":"x","data":{},"context":{"session":"no"}}`))
	f.Fuzz(func(t *testing.T, frame []byte) {
		m, err := bus.Decode(frame)
		if err != nil {
			return
		}
		langs := m.Langs()
		if lang := sentences.Language(langs...); len(langs) > 3 || lang != "en" && lang != "de" {
			t.Errorf("%q: %s", langs, lang)
		}
	})
}
