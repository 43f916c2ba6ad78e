package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// codePackages has pandas, matplotlib and all that they need, of exact versions.
const codePackages = "testdata/code/requirements.txt"

// stdioClient speaks MCP with a toolcrib on standard input and output.
type stdioClient struct {
	in  io.Writer
	out *bufio.Reader
	id  int
}

func (c *stdioClient) call(t *testing.T, method string, params any) json.RawMessage {
	t.Helper()
	c.id++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := c.out.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			ID     int
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if m.ID == c.id && m.Method == "" {
			if m.Error != nil {
				t.Fatalf("%s: %s", method, m.Error)
			}
			return m.Result
		}
	}
}

// TestGenuineNotebook: a notebook of 30 cells with pandas and matplotlib of a virtual environment, in the sandbox, over MCP.
// Each cell says what becomes of it.
func TestGenuineNotebook(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	e, err := installBeside(ctx, genuine(t).base, "code", codePackages, "--no-compile") // one session imports a small part of it
	if err != nil {
		t.Fatalf("installing pandas and matplotlib from PyPI: %v", err)
	}
	_, env := home(t, fmt.Sprintf("toolboxes: {code: {enabled: true, python: %q}}\n", e.dir))
	project := t.TempDir()
	data, err := os.ReadFile("testdata/code/sales.csv")
	if err == nil {
		err = os.WriteFile(filepath.Join(project, "sales.csv"), data, 0o600)
	}
	book, rerr := os.ReadFile("testdata/code/notebook.txt")
	if err != nil || rerr != nil {
		t.Fatal(err, rerr)
	}
	cmd := exec.CommandContext(t.Context(), toolcribPath(t), "mcp")
	cmd.Dir, cmd.Env, cmd.WaitDelay = project, env, 20*time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = in.Close()
		_ = cmd.Wait() // its exit status says nothing here
	}()
	c := &stdioClient{in: in, out: bufio.NewReader(out)}
	c.call(t, "initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "notebook", "version": "1"}})
	cells := strings.Split(string(book), "#### ")[1:]
	if len(cells) != 30 {
		t.Fatalf("%d cells", len(cells))
	}
	var times []time.Duration
	for i, text := range cells {
		head, code, _ := strings.Cut(text, "\n")
		want, piece, _ := strings.Cut(head, " ")
		args := map[string]any{"language": "python", "code": code, "timeout": 100}
		if want == "interrupted" {
			args["timeout"] = 1
		}
		if rest, ok := strings.CutPrefix(code, "# FILES "); ok {
			name, _, _ := strings.Cut(rest, "\n")
			args["files"] = []string{name}
		}
		begun := time.Now()
		var r struct {
			Content []struct {
				Type, Text, MimeType string
				Data                 []byte
			}
			StructuredContent struct{ Status string }
		}
		if err := json.Unmarshal(c.call(t, "tools/call", map[string]any{"name": "run_code", "arguments": args}), &r); err != nil {
			t.Fatal(err)
		}
		times = append(times, time.Since(begun))
		var said strings.Builder
		images := 0
		for _, part := range r.Content {
			said.WriteString(part.Text)
			if part.Type == "image" {
				images++
				checkPlot(t, i+1, part.Data)
			}
		}
		status := want
		if want == "image" {
			status = "ok"
		}
		if r.StructuredContent.Status != status || !strings.Contains(said.String(), piece) || (want == "image") != (images == 1) {
			t.Errorf("cell %d\n%s\nis %s with %d images: %.1500s", i+1, code, r.StructuredContent.Status, images, said.String())
		}
	}
	later := slices.Sorted(slices.Values(times[1:]))
	t.Logf("first cell %s, median of the later ones %s", times[0], later[len(later)/2])
}

// checkPlot: a picture that is no single colour.
func checkPlot(t *testing.T, cell int, data []byte) {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Errorf("cell %d: %v", cell, err)
		return
	}
	colours := map[[3]uint32]bool{}
	size := picture.Bounds()
	for x := size.Min.X; x < size.Max.X; x += 5 {
		for y := size.Min.Y; y < size.Max.Y; y += 5 {
			r, g, b, _ := picture.At(x, y).RGBA()
			colours[[3]uint32{r, g, b}] = true
		}
	}
	if size.Dx() < 300 || size.Dy() < 200 || size.Dx() > 2000 || len(colours) < 3 {
		t.Errorf("cell %d: a picture of %v with %d colours", cell, size, len(colours))
	}
}
