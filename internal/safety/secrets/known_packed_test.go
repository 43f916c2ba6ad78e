package secrets

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// writtenBytes gives bytes in the ways in which programs print them.
func writtenBytes(b []byte) map[string]string {
	wrapped := func(s string, width int) string {
		var out strings.Builder
		for ; len(s) > width; s = s[width:] {
			out.WriteString(s[:width] + "\n")
		}
		return out.String() + s + "\n"
	}
	rows := func(size int, head string, each func(b []byte) string) string {
		var out strings.Builder
		for at := 0; at < len(b); at += 16 {
			fmt.Fprintf(&out, head, at)
			for i := at; i < min(at+16, len(b)); i += size {
				out.WriteString(" " + each(append(bytes.Clone(b[i:min(i+size, len(b))]), 0)))
			}
			out.WriteByte('\n')
		}
		return out.String()
	}
	byteAs := func(form string) func([]byte) string {
		return func(b []byte) string { return fmt.Sprintf(form, b[0]) }
	}
	wordAs := func(form string) func([]byte) string {
		return func(b []byte) string { return fmt.Sprintf(form, int(b[0])|int(b[1])<<8) }
	}
	code := base64.StdEncoding.EncodeToString(b)
	return map[string]string{
		"base64": code, "base64 in lines": wrapped(code, 76), "base64 for addresses": base64.URLEncoding.EncodeToString(b),
		"hex": hex.EncodeToString(b), "hex in lines": wrapped(hex.EncodeToString(b), 60), "hexdump -C": hex.Dump(b),
		"od": rows(2, "%07o", wordAs("%06o")), "od -x": rows(2, "%07o", wordAs("%04x")), "od -b": rows(1, "%07o", byteAs("%03o")),
		"od -tx1": rows(1, "%07o", byteAs("%02x")), "od -tu1": rows(1, "%07o", byteAs("%3d")), "raw": string(b), "Python": fmt.Sprintf("b%q", string(b)),
	}
}

// packedWith are the streams that hold a text, by program.
func packedWith(t *testing.T, text string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for name, open := range map[string]func(w io.Writer) (io.WriteCloser, error){
		"gzip":    func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil },
		"gzip -9": func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, 9) },
		"gzip with a name": func(w io.Writer) (io.WriteCloser, error) {
			z := gzip.NewWriter(w)
			z.Name = "notes.txt"
			return z, nil
		},
		"zlib":    func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriter(w), nil },
		"zlib -1": func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, 1) },
		"zlib -9": func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, 9) },
	} {
		var b bytes.Buffer
		w, err := open(&b)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b.Bytes()
	}
	return out
}

// TestCompressedValuesAreFound: a value that was compressed is not shown in any of the ways in
// which bytes are printed, and other streams stay as they are.
func TestCompressedValuesAreFound(t *testing.T) {
	const value = "Zx9vault-Value.7731qq"
	s, known := testScanner(t), NewKnown([]string{value})
	for program, stream := range packedWith(t, "# a first line\nKEY="+value+"\nand a last line of the file\n") {
		for how, text := range writtenBytes(stream) {
			if got := s.Strike("before\n"+text+"\nafter", known); !strings.Contains(got, Mark) || !strings.HasPrefix(got, "before") {
				t.Errorf("%s, %s: %q", program, how, got)
			}
		}
		cut := base64.StdEncoding.EncodeToString(stream[:len(stream)-9]) // head -c
		if got := s.Strike(cut, known); !strings.Contains(got, Mark) {
			t.Errorf("%s, cut off: %q", program, got)
		}
	}
	for program, stream := range packedWith(t, "# a first line\nKEY=nothing in particular\nand a last line of the file\n") {
		for how, text := range writtenBytes(stream) {
			if found := known.find(nil, text); len(found) > 0 {
				t.Errorf("%s, %s: a stream without the value is taken out: %v of %q", program, how, found, text)
			}
		}
	}
}

// TestStreamsAreBounded: neither a bomb nor many beginnings of streams keep the scanner.
func TestStreamsAreBounded(t *testing.T) {
	const slow = 20 * time.Second
	known := NewKnown([]string{"Zx9vault-Value.7731qq"})
	bomb := packedWith(t, strings.Repeat("a", 64<<20))["zlib -9"]
	for name, text := range map[string]string{
		"bombs":      strings.Repeat(base64.StdEncoding.EncodeToString(bomb)+"\n", 4),
		"beginnings": strings.Repeat("H4sIAAAAAAAAA eJwAAAA 789c 1f8b08 ", 20_000),
	} {
		from := time.Now()
		known.find(nil, text)
		if took := time.Since(from); took > slow {
			t.Errorf("%s: %s", name, took)
		}
	}
}

// TestOtherLettersAreTheSame: letters in another width, of mathematics or in circles are those of
// the value.
func TestOtherLettersAreTheSame(t *testing.T) {
	const value = "Zx9vaultValue7731qq"
	s, known := testScanner(t), NewKnown([]string{value})
	for name, as := range map[string]func(r rune) rune{
		"full width": func(r rune) rune { return r + 0xfee0 },
		"bold": func(r rune) rune {
			switch {
			case r <= '9':
				return r - '0' + 0x1d7ce
			case r <= 'Z':
				return r - 'A' + 0x1d400
			}
			return r - 'a' + 0x1d41a
		},
		"in circles": func(r rune) rune {
			switch {
			case r <= '9':
				return r - '1' + 0x2460
			case r <= 'Z':
				return r - 'A' + 0x24b6
			}
			return r - 'a' + 0x24d0
		},
	} {
		text := strings.Map(as, value)
		if got := s.Strike("it is "+text+" there", known); got != "it is "+Mark+" there" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for r, want := range map[rune]byte{'ℂ': 'C', 'ℊ': 'g', 'ℋ': 'H', 'ℎ': 'h', 'ℐ': 'I', 'ℓ': 'l', 'ℕ': 'N', 'ℙ': 'P', 'ℚ': 'Q', 'ℝ': 'R', 'ℤ': 'Z', 'ℨ': 'Z', 'ℬ': 'B', 'ℭ': 'C', 'ℯ': 'e', 'ℰ': 'E', 'ℱ': 'F', 'ℳ': 'M', 'ℴ': 'o', '²': '2', '¹': '1', '漢': 0, 'é': 0, '😀': 0, '№': 0} {
		if got := plainLetter(r); got != want {
			t.Errorf("%c is %q, want %q", r, got, want)
		}
	}
	if text := "全角 ｖａｌｕｅ と 漢字 😀 ①②③"; s.Strike(text, known) != text {
		t.Errorf("ordinary text is taken out: %q", s.Strike(text, known))
	}
}

// TestCountedLines: a value that is folded is found whatever stands between the numbers and its
// parts, and lists stay as they are.
func TestCountedLines(t *testing.T) {
	const value = "Zx9vault-Value.7731qqTr0ub"
	known := NewKnown([]string{value})
	for _, separator := range []string{". ", ") ", "|", "> ", ", ", ",", ";", " = ", "\n"} {
		text := ""
		for i := 0; i < len(value); i += 5 {
			text += fmt.Sprintf("%d%s%s\n", i/5+1, separator, value[i:min(i+5, len(value))])
		}
		if found := known.find(nil, "before\n"+text); len(found) == 0 {
			t.Errorf("numbers with %q: %q", separator, text)
		}
	}
	for _, text := range []string{"1. first\n2. second\n3. third\n", "10.0.0.1 - GET /\n10.0.0.2 - GET /\n", "1\nvault-Value\n3\nelsewhere\n"} {
		if found := known.find(nil, text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
	}
}
