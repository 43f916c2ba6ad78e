package secrets

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"mime/quotedprintable"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// aValue gives a made-up value of a vault.
func aValue(r *rand.Rand, n int) string {
	const all = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+/=!$&*#@%^ ~'\"\\<>"
	b := make([]byte, n)
	for i := range b {
		b[i] = all[r.IntN(len(all))]
	}
	b[0], b[1], b[n-1] = 'k', 'Q', '7' // so that nothing is trimmed away
	return string(b)
}

// bare gives the letters and digits of a text.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && !bareByte(byte(r)) {
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// survives gives a piece of a value that is left in a text, in any encoding.
func survives(text, value string) string {
	const most = 9 // letters that may be left, such as those of one byte in binary
	var forms []string
	forms = append(append(append(forms, plainForms(value)...), encodedForms(value)...), wordForms(value)...)
	for part := range strings.SplitSeq(text, Mark) {
		part = bare(part)
		for _, f := range forms {
			f = bare(f)
			most := max(most, 3*len(f)/len(value))
			for i := 0; i+most <= len(f); i++ {
				if piece := f[i : i+most]; strings.Contains(part, piece) && strings.Trim(piece, "01") != "" {
					return piece
				}
			}
		}
	}
	return ""
}

// TestKnownThroughCommands: whatever one command makes of a text with a value in
// it, nothing of the value gets through.
func TestKnownThroughCommands(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(7, 8))
	var commands []string
	for _, c := range []string{
		"cat", "base64", "base64 -w0", "base64 -w 40", "base32", "base32 -w0", "xxd", "xxd -p", "xxd -i", "xxd -b", "xxd -u -c 8", "xxd -ps -c 5", "od", "od -c", "od -x", "od -b", "od -An -tx1", "od -tx1z", "od -d", "od -tu1", "od -tx4", "od -An -vtx1 -w1", "hexdump", "hexdump -C", "hexdump -v", "hd",
		"rev", "tac", "fold -w 7", "fold -w1", "fold -w 30 -s", "tr a-z A-Z", "tr A-Z a-z", "tr A-Za-z N-ZA-Mn-za-m", "sed s/./&:/g", "sed s/./&\\n/g", "sed s/$/\\r/", "sed -n l", "grep -o .", "cat -A", "nl", "uuencode -m x",
		"python3 -c import sys,urllib.parse;print(urllib.parse.quote(sys.stdin.read()))", "python3 -c import sys,json;print(json.dumps(sys.stdin.read()))", "python3 -c import sys;print(list(sys.stdin.buffer.read()))", "python3 -c import sys;print(repr(sys.stdin.read()))",
		"python3 -c import sys;print(sys.stdin.buffer.read().hex(':'))", "python3 -c import sys,html;print(html.escape(sys.stdin.read()))", "python3 -c import sys;print(''.join('&#%d;'%c for c in sys.stdin.buffer.read()))", "python3 -c import sys;print(''.join('&#x%x;'%c for c in sys.stdin.buffer.read()))",
		"python3 -c import sys;print(''.join('\\\\u%04x'%c for c in sys.stdin.buffer.read()))", "python3 -c import sys;print(''.join('%%%02x'%c for c in sys.stdin.buffer.read()))", "python3 -c import sys;print(''.join('\\\\%03o'%c for c in sys.stdin.buffer.read()))",
		"python3 -c import sys,quopri;quopri.encode(sys.stdin.buffer,sys.stdout.buffer,True)", "python3 -c import sys,shlex;print(shlex.quote(sys.stdin.read()))", "python3 -c import sys;print(sys.stdin.read()[::-1])", "python3 -c import sys;print(*sys.stdin.read())",
		"jq -Rs .", "jq -Rs @uri", "jq -Rs @base64", "jq -Rs @sh", "jq -Rs @html", "openssl base64", "perl -pe s/(.)/$1\\n/g",
	} {
		if _, err := exec.LookPath(strings.Fields(c)[0]); err == nil {
			commands = append(commands, c)
		}
	}
	for i, c := range commands {
		args := strings.Fields(c)
		if args[0] == "python3" {
			args = strings.SplitN(c, " ", 3)
		}
		for _, size := range []int{9 + 28*(i%2)} {
			value := aValue(r, size)
			if strings.HasSuffix(c, "-s") {
				value = strings.ReplaceAll(value, " ", "_")
			}
			known := NewKnown([]string{value})
			for _, around := range []string{"key=%s\n", "the first line of some\nfile: %s and more\nto come, with a last line\n"} {
				cmd := exec.Command(args[0], args[1:]...)
				cmd.Stdin = strings.NewReader(fmt.Sprintf(strings.ReplaceAll(around, "%s", "%[1]s"), value))
				out, err := cmd.Output()
				if err != nil {
					t.Logf("%s does not work on this machine: %v", c, err)
					continue
				}
				got := s.Strike(string(out), known)
				if piece := survives(got, value); piece != "" || !strings.Contains(got, Mark) {
					t.Errorf("%s: %q of %q is left in\n%s\nof\n%s", c, piece, value, got, out)
					break
				}
			}
		}
	}
	t.Logf("%d commands", len(commands))
}

// TestKnownEncodings does the same without commands, many times.
func TestKnownEncodings(t *testing.T) {
	s := testScanner(t)
	r := rand.New(rand.NewPCG(9, 10))
	some := func(format string) func(string) string { // some of the letters
		return func(v string) string {
			var b strings.Builder
			for i := range len(v) {
				if r.IntN(3) > 0 || !wordByte(v[i]) {
					fmt.Fprintf(&b, format, v[i])
				} else {
					b.WriteByte(v[i])
				}
			}
			return b.String()
		}
	}
	for name, encode := range map[string]func(string) string{
		"percent, some": some("%%%02x"), "percent, capitals": some("%%%02X"), "entities": some("&#%d;"), "hex entities": some("&#x%x;"), "JSON escapes": some(`\u%04x`), "octal": some(`\%03o`), "hex escapes": some(`\x%02x`),
		"query": url.QueryEscape, "query, lower case": func(v string) string { return strings.ToLower(url.QueryEscape(v)) }, "HTML": html.EscapeString,
		"quoted-printable": func(v string) string {
			var b bytes.Buffer
			w := quotedprintable.NewWriter(&b)
			if _, err := w.Write([]byte(v)); err != nil || w.Close() != nil {
				t.Error("quoted-printable")
			}
			return b.String()
		},
		"JSON in JSON": func(v string) string { return string(jsontext.Quote(string(jsontext.Quote(v)))) },
		"spaces":       func(v string) string { return strings.Join(strings.Split(v, ""), " ") },
		"a list": func(v string) string {
			text, err := json.Marshal(strings.Split(v, ""))
			if err != nil {
				t.Error(err)
			}
			return string(text)
		},
	} {
		r = rand.New(rand.NewPCG(9, uint64(len(name)))) // whatever the order of the map
		for range 60 {
			value := aValue(r, 8+r.IntN(30))
			if name == "a list" {
				value = strings.NewReplacer(`"`, "_", `\`, "-").Replace(value)
			}
			text := "a: " + encode(value) + " ;"
			if got := s.Strike(text, NewKnown([]string{value})); survives(got, value) != "" || !strings.Contains(got, Mark) {
				t.Errorf("%s: %q is left in %q of %q", name, value, got, text)
				break
			}
		}
	}
}

// TestKnownIsCareful: letters that stand in a text by chance, in the order of a
// value, are no value.
func TestKnownIsCareful(t *testing.T) {
	known := NewKnown([]string{"hunter2", "12345678", "abcd", "correct horse battery", "token7", "x1y2"})
	for _, text := range []string{
		"the hunter 2 went out", "call 1234-5678 now", `["1234", "5678"]`, "ABCD", "correct, horse and battery", "a token; 7 of them", "X1Y2", "x1 y2", "hunter/2", "2026-12-34 56:78", "0x1234, 0x5678",
	} {
		if found := known.find(nil, text); len(found) > 0 {
			t.Errorf("%q: %q is taken", text, text[found[0].Start:found[0].End])
		}
	}
}

// BenchmarkKnown is what the values of a vault cost on a megabyte.
func BenchmarkKnown(b *testing.B) {
	var values []string
	r := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		values = append(values, aValue(r, 20))
	}
	for name, text := range corpora(b) {
		for _, n := range []int{0, 1, 20} {
			known := NewKnown(values[:n])
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					known.find(nil, text)
				}
			})
		}
	}
}

// TestKnownBetweenInvisible: letters that nobody sees hide no value, wherever they stand.
func TestKnownBetweenInvisible(t *testing.T) {
	const value = "Blaue-Katze7imSchnee"
	known := NewKnown([]string{value})
	for _, sign := range []string{"\u200b", "\u00ad", "\u2060", "\ufeff", "\u200d", "\u202e", "\u034f", "\u180e"} {
		for name, text := range map[string]string{
			"everywhere": strings.Join(strings.Split(value, ""), sign), "once": value[:9] + sign + value[9:], "twice": value[:3] + sign + sign + value[3:12] + sign + value[12:],
			"base64": strings.Join(strings.Split(base64.StdEncoding.EncodeToString([]byte(value)), ""), sign),
		} {
			all := "It is “" + text + "” — and more."
			found := known.Find(all, 0)
			if left := StrikeOut(all, found); len(found) == 0 || strings.Contains(left, "atze") || strings.Contains(left, "chnee") || !strings.Contains(left, "and more") {
				t.Errorf("%U, %s: %q", []rune(sign), name, left)
			}
		}
	}
	if found := known.Find("Blaue Katzen\u200b im Schnee “x” …", 0); len(found) > 0 {
		t.Errorf("%v", found)
	}
}
