package openapi

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// allocated is how many bytes were allocated while something ran. It counts what is freed again
// too, so that it bounds what was held.
func allocated(run func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	run()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// rows is a content that is long and not the same everywhere.
func rows(w io.Writer, size int) {
	block := []byte(strings.Repeat("0123456789abcdef", 4096))
	for i := 0; size > 0; i++ {
		copy(block, fmt.Sprintf("%08d", i))
		n := min(size, len(block))
		if _, err := w.Write(block[:n]); err != nil {
			return
		}
		size -= n
	}
}

func sumOfRows(size int) string {
	h := sha256.New()
	rows(h, size)
	return fmt.Sprintf("%x", h.Sum(nil))
}

const fileAnswer = `"description":"ok","content":{"application/zip":{"schema":{"type":"string","format":"binary"}}}`

// Files are read and written as they go over the wire: a call holds a few buffers of them.
func TestFilesAreNotHeld(t *testing.T) {
	const size = 48 << 20
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "up.bin"))
	if err != nil {
		t.Fatal(err)
	}
	rows(f, size)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var got string
	var length int64
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Type", "application/zip")
			rows(w, size)
			return
		}
		length = r.ContentLength
		h, from := sha256.New(), io.Reader(r.Body)
		if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
			in, err := r.MultipartReader()
			if err != nil {
				t.Error(err)
				return
			}
			for {
				p, err := in.NextPart()
				if err != nil {
					break
				}
				if p.FormName() == "file" {
					_, _ = io.Copy(h, p) // a short one has another sum
				}
			}
			from = strings.NewReader("")
		}
		_, _ = io.Copy(h, from)
		got = fmt.Sprintf("%x", h.Sum(nil))
	})
	want := sumOfRows(size)
	const bound = 8 << 20
	check := func(what string, used uint64) {
		t.Helper()
		t.Logf("%s: %d MiB over the wire, %.1f MiB allocated by both sides", what, size>>20, float64(used)/(1<<20))
		if used > bound {
			t.Errorf("%s allocated %d MiB", what, used>>20)
		}
	}
	env := granted(t, newEnv(t, nil), dir)
	down := newBox(t, strings.Replace(oneOp(s.URL, "get", "/x", ""), `"description":"ok"`, fileAnswer, 1), Config{Save: true})
	check("a download", allocated(func() { mustUse(t, down, env, "op", `{"_save_to":"down.bin"}`) }))
	h := sha256.New()
	in, err := os.Open(filepath.Join(dir, "down.bin"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(h, in); err != nil || fmt.Sprintf("%x", h.Sum(nil)) != want {
		t.Errorf("another file came: %v", err)
	}
	if err := in.Close(); err != nil {
		t.Error(err)
	}
	binary := newBox(t, oneOp(s.URL, "post", "/x", `,"requestBody":{"required":true,"content":{"application/octet-stream":{"schema":{"type":"string","format":"binary"}}}}`), Config{})
	check("a binary upload", allocated(func() { mustUse(t, binary, env, "op", `{"body":"up.bin"}`) }))
	if got != want || length != size {
		t.Errorf("another file was sent: %s, %d bytes", got, length)
	}
	form := newBox(t, oneOp(s.URL, "post", "/x", `,"requestBody":{"required":true,"content":{"multipart/form-data":{"schema":{"type":"object","properties":{"file":{"type":"string","format":"binary"},"note":{"type":"string"}}}}}}`), Config{})
	check("a multipart upload", allocated(func() { mustUse(t, form, env, "op", `{"file":"up.bin","note":"hello"}`) }))
	if got != want || length <= size || length > size+1000 {
		t.Errorf("another form was sent: %s, %d bytes", got, length)
	}
}

// What does not come whole, or is too long, changes no file and leaves none.
func TestSaveWhole(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "x.zip", "old")
	mode := ""
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		switch mode {
		case "broken":
			w.Header().Set("Content-Length", "4000000")
			rows(w, 3<<20)
		case "long":
			rows(w, 5<<20)
		case "slow":
			rows(w, 2<<20)
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	})
	doc := strings.Replace(oneOp(s.URL, "get", "/x", ""), `"description":"ok"`, fileAnswer, 1)
	env := granted(t, newEnv(t, nil), dir)
	for _, mode = range []string{"broken", "long", "slow", "empty"} {
		patience := time.Minute
		if mode == "slow" {
			patience = 300 * time.Millisecond
		}
		b := newBox(t, doc, Config{Save: true, MaxSave: 4 << 20, Timeout: patience})
		r, err := use(t, b, env, "op", `{"_save_to":"x.zip"}`)
		if err != nil || r.Failed != (mode != "empty") || mode != "empty" && !strings.Contains(r.String(), "not saved") {
			t.Errorf("%s: %v, %v", mode, r, err)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%s: %v, %v", mode, entries, err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, "x.zip")); err != nil || string(text) != "old" {
			t.Errorf("%s: %d bytes, %v", mode, len(text), err)
		}
	}
}

// A file that is too large, or was cut meanwhile, is not sent as if it were whole; an empty one is.
func TestUploadBounds(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "large", strings.Repeat("x", 2000))
	writeFile(t, dir, "none", "")
	requests, length := 0, int64(-2)
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		requests++
		n, _ := io.Copy(io.Discard, r.Body) // how far it came
		length = max(r.ContentLength, n)
	})
	b := newBox(t, oneOp(s.URL, "post", "/x", `,"requestBody":{"required":true,"content":{"application/octet-stream":{"schema":{"type":"string","format":"binary"}}}}`), Config{MaxUpload: 1000})
	env := granted(t, newEnv(t, nil), dir)
	if r, err := use(t, b, env, "op", `{"body":"large"}`); err == nil || requests != 0 || !strings.Contains(err.Error(), "larger") {
		t.Errorf("%v, %v, %d requests", r, err, requests)
	}
	mustUse(t, b, env, "op", `{"body":"none"}`)
	if requests != 1 || length != 0 {
		t.Errorf("%d requests, %d bytes", requests, length)
	}
}
