package artifact

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib"
	"github.com/toolcrib/toolcrib/cribtest"
)

// shelf has one artifact of one caller.
func shelf(text string) Read {
	return func(c toolcrib.Caller, id string, offset int64, limit int) ([]byte, int64, error) {
		if c.Subject != "ann" || id != "x" {
			return nil, 0, errors.New("there is no such artifact")
		}
		from := min(offset, int64(len(text)))
		return []byte(text[from:min(int64(len(text)), from+int64(limit))]), int64(len(text)), nil
	}
}

func TestToolbox(t *testing.T) {
	cribtest.Toolbox(t, func(t testing.TB) toolcrib.Toolbox {
		box, err := Open(t.Context(), Config{}, shelf("text"))
		if err != nil {
			t.Fatal(err)
		}
		return box
	})
	for name, open := range map[string]func() (toolcrib.Toolbox, error){
		"small page": func() (toolcrib.Toolbox, error) { return Open(t.Context(), Config{Page: 100}, shelf("")) },
		"no reader":  func() (toolcrib.Toolbox, error) { return Open(t.Context(), Config{}, nil) },
	} {
		if _, err := open(); err == nil {
			t.Errorf("%s: it opened", name)
		}
	}
}

// read pages through an artifact as a model would.
func read(t *testing.T, cfg Config, text, subject, input string) (readOut, int, error) {
	t.Helper()
	box, err := Open(t.Context(), cfg, shelf(text))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := box.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	env := &toolcrib.Env{Call: toolcrib.Call{Caller: toolcrib.Caller{Subject: subject}}}
	i := slices.IndexFunc(tools, func(tool toolcrib.Tool) bool { return tool.Name == "read_artifact" })
	if i < 0 {
		t.Fatalf("there is no read_artifact in %v", tools)
	}
	result, err := tools[i].Run(t.Context(), env, json.RawMessage(input))
	if err != nil {
		return readOut{}, 0, err
	}
	var out readOut
	if err := json.Unmarshal(result.Value, &out); err != nil {
		t.Fatal(err)
	}
	return out, len(result.Value), nil
}

func TestPages(t *testing.T) {
	for name, text := range map[string]string{
		"lines":    strings.Repeat("a line of text\n", 20_000),
		"letters":  strings.Repeat("äöü€😀", 20_000),
		"controls": strings.Repeat("\x00\x01\n\"<>&", 20_000),
		"short":    "x",
		"empty":    "",
		"no text":  strings.Repeat("\xff\x80a", 20_000),
	} {
		t.Run(name, func(t *testing.T) {
			var all strings.Builder
			offset, pages := int64(0), 0
			for {
				input, err := json.Marshal(map[string]any{"id": "x", "offset": offset, "limit": 40_000})
				if err != nil {
					t.Fatal(err)
				}
				out, size, err := read(t, Config{Page: 20_000}, text, "ann", string(input))
				if err != nil {
					t.Fatal(err)
				}
				if size > 20_000 || out.Total != int64(len(text)) {
					t.Fatalf("a page of %d bytes, of %d in total", size, out.Total)
				}
				all.WriteString(out.Text)
				if out.Next >= out.Total {
					break
				}
				if out.Next <= offset {
					t.Fatalf("no way on from %d", offset)
				}
				offset = out.Next
				if pages++; pages > 1000 {
					t.Fatal("it does not end")
				}
			}
			if want := strings.ToValidUTF8(text, "\uFFFD"); name != "no text" && all.String() != want {
				t.Errorf("%d bytes came together, of %d", all.Len(), len(want))
			}
		})
	}
}

func TestNotTheirs(t *testing.T) {
	for _, c := range []struct{ subject, input, want string }{
		{"bob", `{"id":"x","offset":0,"limit":9}`, "no such artifact"},
		{"ann", `{"id":"../x","offset":0,"limit":9}`, "no such artifact"},
		{"ann", `{"id":"x","offset":9,"limit":9}`, "none at offset 9"},
	} {
		if out, _, err := read(t, Config{}, "text", c.subject, c.input); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %+v, %v", c.subject, c.input, out, err)
		}
	}
}
