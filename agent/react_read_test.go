package agent

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/model"
)

func TestReadTurn(t *testing.T) {
	for _, c := range []struct {
		said, kind, tool, input string // input: or the answer, or a part of what is wrong
	}{
		{"Thought: x\nAction: sum\nAction Input: {\"a\": 1}", "action", "sum", `{"a": 1}`},
		{"Action: sum\nAction Input: {\"a\": {\"b\": \"}\"}} trailing {", "action", "sum", `{"a": {"b": "}"}}`},
		{"Action: sum\nAction Input: {\"a\": 1}\nAction: other\nAction Input: {}", "action", "sum", `{"a": 1}`},
		{"Action: `sum`\nAction Input: ```json\n{\"a\": 1,}\n```", "action", "sum", `{"a": 1}`},
		{"**Action:** sum\n**Action Input:** {\"a\": True}", "action", "sum", `{"a": true}`},
		{"Action: sum({\"a\": 1})", "action", "sum", `{"a": 1}`},
		{"Action: sum {\"a\": 1}", "action", "sum", `{"a": 1}`},
		{"Action: now\nAction Input:", "action", "now", `{}`},
		{"Action: now\nAction Input: None\n", "action", "now", `{}`},
		{"Action: now", "action", "now", `{}`},
		{"Action: write\nAction Input: {\"text\": \"two\nlines\"}", "action", "write", `{"text": "two\nlines"}`},
		{"Action: sum\nAction Input: {\"a\": 1}\nObservation: 5\nFINAL_ANSWER: 5", "action", "sum", `{"a": 1}`},
		{"Action: sum\nAction Input: {\"a\": 1}\nFINAL_ANSWER: 5", "final", "", "5"},
		{"Thought: x\nFINAL_ANSWER:  the answer\nof two lines \n", "final", "", "the answer\nof two lines"},
		{"FINAL_ANSWER: a FINAL_ANSWER: b", "final", "", "a FINAL_ANSWER: b"},
		{"FINAL_ANSWER:", "final", "", ""},
		{"**FINAL_ANSWER:** **bold** answer", "final", "", "**bold** answer"},
		{"FINAL_ANSWER: **bold** answer", "final", "", "**bold** answer"},
		{"Action: write\nAction Input: {\"text\": \"FINAL_ANSWER: no\"}", "action", "write", `{"text": "FINAL_ANSWER: no"}`},
		{"Action: write\nAction Input: {\"text\": \nFINAL_ANSWER: yes", "final", "", "yes"},
		{"Thought: x\nFinal Answer: done", "final", "", "done"},
		{"Action: sum\nAction Input: {\"a\": 1", "wrong", "", "not complete"},
		{"Action: sum\nAction Input: {\"a\": one}", "wrong", "", "no valid JSON"},
		{"Action: sum\nAction Input: a=1", "wrong", "", "no JSON object: a=1"},
		{"Action:\nAction Input: {}", "wrong", "", "names no tool"},
		{"Thought: hm", "wrong", "", "neither an Action"},
		{"", "wrong", "", "empty"},
		{"  \n", "wrong", "", "empty"},
		{"Hello there!", "plain", "", ""},
	} {
		got := readTurn(c.said)
		kind := []string{"wrong", "plain", "action", "final"}[got.kind]
		detail := map[string]string{"wrong": got.wrong, "action": string(got.input), "final": got.answer}[kind]
		same := detail == c.input || kind == "wrong" && strings.Contains(detail, c.input)
		if kind == "action" {
			var a, b any
			_ = json.Unmarshal(got.input, &a)
			_ = json.Unmarshal([]byte(c.input), &b)
			x, _ := json.Marshal(a)
			y, _ := json.Marshal(b)
			same = string(x) == string(y)
		}
		if kind != c.kind || got.tool != c.tool || !same {
			t.Errorf("%q: %s %q %q", c.said, kind, got.tool, detail)
		}
	}
}

// FuzzReadTurn: whatever a model writes is read as one thing, an action has an object,
// and what is streamed is the answer that is read in the end.
func FuzzReadTurn(f *testing.F) {
	for _, s := range []string{
		"Thought: x\nAction: sum\nAction Input: {\"a\": 1}\nObservation: 2\nFINAL_ANSWER: 3", "FINAL_ANSWER: a\n b ", "**Action:** `x`\n```json\n{\"a\":\"\\\"}\"}```",
		"Action: a({})", "Action Input: {", "Final Answer: x\nFINAL_ANSWER: y", "**FINAL_ANSWER:** x", "Action: a\nAction Input: {\"t\":\"FINAL_ANSWER: x\"}", "Action:Action Input:{}FINAL_ANSWER:", "Thought:\nAction:\nAction: x\nAction Input: {\"a\":[1,],}",
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, said string, piece uint8) {
		turn := readTurn(said)
		if turn.kind == turnAction && (turn.tool == "" || !json.Valid(turn.input) || !strings.HasPrefix(string(turn.input), "{") || turn.end < 0 || turn.end > len(said)) {
			t.Fatalf("%q: %+v", said, turn)
		}
		if turn.kind == turnWrong && turn.wrong == "" || (turn.kind == turnFinal) != turn.isFinal {
			t.Fatalf("%q: %+v", said, turn)
		}
		var ev events
		s := &reactStream{run: &run{agent: &Agent{}, watcher: ev.add}}
		size := int(piece)%16 + 1
		for rest := said; rest != ""; {
			n := min(size, len(rest))
			s.delta(model.Delta{Text: rest[:n]})
			rest = rest[n:]
		}
		if told := ev.content(); told != "" && (turn.kind != turnFinal || !strings.HasPrefix(turn.answer, told)) {
			t.Fatalf("%q: told %q, read %+v", said, told, turn)
		}
	})
}

// FuzzMend: what is mended is an object, and what is JSON already means the same.
func FuzzMend(f *testing.F) {
	for _, s := range []string{`{"a":1,}`, "{\"a\":\"x\ny\"}", `{"a":True,"b":[None,],}`, "```json\n{}\n```", `{"a":"`, `{'a':1}`, `"{\"a\":1}"`, `[1,]`, `{"T":"True,}"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := readArguments(raw)
		if !ok {
			if json.Valid(raw) && strings.HasPrefix(strings.TrimSpace(string(raw)), "{") {
				t.Fatalf("%q is not read", raw)
			}
			return
		}
		var v map[string]any
		if !json.Valid(got) || got[0] != '{' {
			t.Fatalf("%q became %q", raw, got)
		}
		if err := json.Unmarshal(got, &v); err != nil && !strings.Contains(err.Error(), "range") && !strings.Contains(err.Error(), "cannot unmarshal number") {
			t.Fatalf("%q became %q: %v", raw, got, err)
		}
		if mended, ok := mendObject(got); ok && json.Valid(mended) {
			var w map[string]any
			_ = json.Unmarshal(mended, &w)
			x, _ := json.Marshal(v)
			y, _ := json.Marshal(w)
			if string(x) != string(y) {
				t.Fatalf("%q means %s, mended %s", got, x, y)
			}
		}
	})
}
