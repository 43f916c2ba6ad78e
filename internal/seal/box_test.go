package seal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolcrib/toolcrib/internal/durable"
)

// place is a file that is sealed.
type place struct {
	t    testing.TB
	dir  string
	path string
}

func newPlace(t testing.TB) *place {
	dir := t.TempDir()
	return &place{t, filepath.Join(dir, "seal"), filepath.Join(dir, "file.json")}
}

func (p *place) box() *Box {
	p.t.Helper()
	b, err := Open(p.dir, false)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

func (p *place) get() ([]byte, error) { return os.ReadFile(p.path) }

func (p *place) put(data []byte) error { return durable.Replace(p.path, data, 0o600) }

func (p *place) write(body string) {
	p.t.Helper()
	if err := p.box().Write("x", []byte(body), p.put); err != nil {
		p.t.Fatal(err)
	}
}

// is fails unless the file reads so: a body, nothing, or broken.
func (p *place) is(want string) {
	p.t.Helper()
	body, known, err := p.box().Read("x", p.get)
	got := string(body)
	switch {
	case errors.Is(err, ErrBroken):
		got = "broken"
	case err != nil:
		p.t.Fatal(err)
	case !known:
		got = "nothing"
	}
	if got != want {
		p.t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func (p *place) remove(files ...string) {
	p.t.Helper()
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			p.t.Fatal(err)
		}
	}
}

func TestSealed(t *testing.T) {
	const one, two = `{"a":"<1> é"}`, `{"a":2}`
	for name, tt := range map[string]struct {
		do   func(p *place)
		want string
	}{
		"as it was written": {func(*place) {}, two},
		"removed":           {func(p *place) { p.remove(p.path) }, "broken"},
		"edited": {func(p *place) {
			text, _ := p.get()
			_ = p.put([]byte(strings.Replace(string(text), `"a":2`, `"a":3`, 1)))
		}, "broken"},
		"without a seal": {func(p *place) { _ = p.put([]byte(two)) }, "broken"},
		"empty":          {func(p *place) { _ = p.put(nil) }, "broken"},
		"sealed as another": {func(p *place) {
			if err := p.box().Write("y", []byte(two), p.put); err != nil {
				p.t.Fatal(err)
			}
		}, "broken"},
		"sealed by another": {func(p *place) {
			o := newPlace(t)
			o.write(two)
			text, _ := o.get()
			_ = p.put(text)
		}, "broken"},
		"older": {func(p *place) {
			before, _ := p.get()
			p.write(one)
			p.is(one)
			_ = p.put(before)
		}, "broken"},
		"forgotten": {func(p *place) {
			if err := p.box().Forget("x", func() error { return os.Remove(p.path) }); err != nil {
				p.t.Fatal(err)
			}
		}, "nothing"},
		"forgotten and put back": {func(p *place) {
			before, _ := p.get()
			_ = p.box().Forget("x", func() error { return os.Remove(p.path) })
			_ = p.put(before)
		}, "nothing"},
		"forgotten and begun anew": {func(p *place) {
			_ = p.box().Forget("x", func() error { return os.Remove(p.path) })
			p.write(one)
			p.write(two)
		}, two},
		"of the first life": {func(p *place) {
			before, _ := p.get()
			_ = p.box().Forget("x", func() error { return os.Remove(p.path) })
			p.write(one)
			_ = p.put(before)
		}, "broken"},
		"without its key":           {func(p *place) { p.remove(filepath.Join(p.dir, keyFile)) }, "broken"},
		"without its key and file":  {func(p *place) { p.remove(filepath.Join(p.dir, keyFile), p.path) }, "broken"},
		"without its list":          {func(p *place) { p.remove(filepath.Join(p.dir, knownFile)) }, "broken"},
		"without its list and file": {func(p *place) { p.remove(filepath.Join(p.dir, knownFile), p.path) }, "broken"},
		"with another list": {func(p *place) {
			o := newPlace(t)
			o.write(two)
			text, _ := os.ReadFile(filepath.Join(o.dir, knownFile))
			_ = durable.Replace(filepath.Join(p.dir, knownFile), text, 0o600)
		}, "broken"},
		"and a list that is rewritten knows nothing else": {func(p *place) {
			p.remove(filepath.Join(p.dir, knownFile), p.path)
			_ = p.box().Write("y", []byte(one), func([]byte) error { return nil })
		}, "broken"},
		"but may be sealed again": {func(p *place) {
			p.remove(filepath.Join(p.dir, keyFile), p.path)
			p.is("broken")
			p.write(one)
		}, one},
		"or be forgotten": {func(p *place) {
			p.remove(filepath.Join(p.dir, keyFile), p.path)
			_ = p.box().Forget("x", func() error { return nil })
		}, "nothing"},
		"with a file that was not noted yet": {func(p *place) { // the process died behind the write
			died := errors.New("died")
			if err := p.box().Write("x", []byte(one), func(s []byte) error { return errors.Join(p.put(s), died) }); !errors.Is(err, died) {
				p.t.Fatal(err)
			}
		}, one},
		"with a removal cut short": {func(p *place) {
			died := errors.New("died")
			if err := p.box().Forget("x", func() error { return died }); !errors.Is(err, died) {
				p.t.Fatal(err)
			}
		}, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.is("nothing")
			p.write(two)
			tt.do(p)
			p.is(tt.want)
		})
	}
}

// TestUsed: where there are traces and no box, nothing is taken for new.
func TestUsed(t *testing.T) {
	p := newPlace(t)
	b, err := Open(p.dir, true)
	if err != nil || b.Lost().IsZero() {
		t.Fatal(b, err)
	}
	p.is("broken")
	if info, err := os.Stat(filepath.Join(p.dir, keyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

// TestLook: who only looks makes nothing, and believes nothing without a key.
func TestLook(t *testing.T) {
	p := newPlace(t)
	b, err := Look(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, known, err := b.Read("x", p.get); known || err != nil {
		t.Error(known, err)
	}
	if err := p.put([]byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	if _, known, err := b.Read("x", p.get); known || !errors.Is(err, ErrBroken) {
		t.Error(known, err)
	}
	if err := b.Write("x", []byte(`{}`), p.put); err == nil {
		t.Error("it was written")
	}
	if _, err := os.Stat(p.dir); err == nil {
		t.Error("something was made")
	}
}

// TestTogether: many write and read at once, and nobody sees a broken file.
func TestTogether(t *testing.T) {
	p := newPlace(t)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for n := range 15 {
				b, err := Open(p.dir, false)
				if err != nil {
					t.Error(err)
					return
				}
				// The lock goes to whoever looks at the right moment: on a slow disk one may
				// lose patience. That breaks nothing, and it tries again.
				patient := func(do func() error) {
					err := do()
					for errors.Is(err, context.DeadlineExceeded) {
						err = do()
					}
					if err != nil {
						t.Error(err)
					}
				}
				patient(func() error { return b.Write("x", fmt.Appendf(nil, `{"i":%d,"n":%d}`, i, n), p.put) })
				patient(func() error {
					_, known, err := b.Read("x", p.get)
					if err == nil && !known {
						err = errors.New("it is not known any more")
					}
					return err
				})
			}
		})
	}
	all.Wait()
}

// TestKilled kills a process that seals, again and again: what it leaves is
// whole, and the next one goes on.
func TestKilled(t *testing.T) {
	if dir := os.Getenv("SEAL_VICTIM"); dir != "" {
		p := &place{t, filepath.Join(dir, "seal"), filepath.Join(dir, "file.json")}
		fmt.Println("ready")
		for n := 0; ; n++ {
			p.write(fmt.Sprintf(`{"n":%d}`, n))
			if n%5 == 4 {
				if err := p.box().Forget("x", func() error { return os.Remove(p.path) }); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	p := newPlace(t)
	dir := filepath.Dir(p.path)
	for i := range 12 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "SEAL_VICTIM="+dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 5)); err != nil { // it has begun
			t.Error(err)
		}
		time.Sleep(time.Duration(i*7) * time.Millisecond) // anywhere in its work
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		_ = cmd.Wait() // it was killed
		if _, _, err := p.box().Read("x", p.get); err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
	}
	if !p.box().Lost().IsZero() {
		t.Error("the key counts as lost")
	}
}

func TestDigest(t *testing.T) {
	d := NewDigest(NewKey(), "k")
	once := d.Join("a")
	if d.Join("ab", "c") == d.Join("a", "bc") || d.Sum([]byte("a")) == d.Sum([]byte("b")) || d.Join("a") != once {
		t.Error("texts are taken for others")
	}
	k := NewKey()
	if string(k.For("a")) == string(k.For("b")) || NewDigest(k, "k").Sum(nil) == NewDigest(NewKey(), "k").Sum(nil) {
		t.Error("keys are alike")
	}
}

// FuzzParse: no text is taken that was not sealed with the key, and what was is
// read back to the byte.
func FuzzParse(f *testing.F) {
	key := Key(strings.Repeat("k", Size))
	good, err := sealed(key, "x", 3, []byte(`{"a":[1,"é\u2028<"]}`))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte(`{"sealed":1,"of":"x","n":3,"mac":"00","body":{}}`))
	f.Add([]byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		if got, err := parse(key, "x", file); err == nil {
			want, _ := parse(key, "x", good)
			if got.N != want.N || string(got.Body) != string(want.Body) {
				t.Fatalf("%s is taken", file)
			}
		}
		if !json.Valid(file) {
			return
		}
		text, err := sealed(key, "y", 7, file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse(key, "y", text)
		var a, b any
		if err != nil || got.N != 7 || json.Unmarshal(got.Body, &a) != nil || json.Unmarshal(file, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%s is read back as %+v, %v", file, got, err)
		}
	})
}
