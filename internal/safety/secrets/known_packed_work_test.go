package secrets

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
	"time"
)

// hostileStreams are texts full of beginnings of streams: such as are none after a few bytes, and
// such as can be unpacked to the end of the text from each of them.
func hostileStreams(size int) map[string]string {
	// A block that is not compressed, of 64 KiB less one, and the next one begins where a unit does,
	// behind its head: each unit is the head of a stream that has no end.
	unit := "\x78\x9c\x00\xff\xff\x00\x00" + strings.Repeat("a", 13)
	return map[string]string{
		"hex without an end":    filled(hex.EncodeToString([]byte(unit))+" ", size),
		"base64 without an end": filled(base64.StdEncoding.EncodeToString([]byte(unit+unit+unit))+"\n", size),
		"raw without an end":    filled(unit, size),
		"hex of zlib":           filled("789c0000 ", size),
		"hex of zlib, decoded":  filled("789c634b4b4b4b4b4b4b4b4b ", size),
		"hex of gzip":           filled("1f8b0800000000000003 ", size),
		"hex of gzip, decoded":  filled("1f8b0800000000000003634b4b4b4b4b ", size),
		"hex of gzip, names":    filled("1f8b0808111111111103414141414141 ", size),
		"base64 of gzip":        filled("H4sIAAAAAAAAA ", size),
		"base64, decoded":       filled("H4sIAAAAAAAAA2NLS0tLS0tL ", size),
		"base64 of zlib":        filled("eJwAAAA ", size),
		"base64 of zlib, long":  filled("eJxjS0tLS0tLS0tLS0tL ", size),
		"od -x":                 filled("8b1f 0008 0000 0000 0300 ", size),
		"od -x of zlib":         filled("9c78 4b63 4b4b 4b4b 4b4b ", size),
		"od":                    filled("116170 045543 045513 045513 ", size),
		"od -b":                 filled("170 234 143 113 113 113 113 ", size),
		"od -tu1":               filled("120 156 99 75 75 75 75 ", size),
		"raw":                   filled("x\x9ccKKKKKKKKKKKKKKK", size),
		"escaped":               filled(`\x78\x9c\x63\x4b\x4b\x4b\x4b\x4b\x4b`, size),
		"numbered":              filled("1 789c634b4b4b4b4b4b4b4b4b\n2 789c634b4b4b4b4b4b4b4b4b\n", size),
	}
}

// TestBeginningsOfStreamsCostLittle: a text full of beginnings of streams takes about as long as
// the same text without them.
func TestBeginningsOfStreamsCostLittle(t *testing.T) {
	const size, factor, nothing, tries = 1 << 20 / sampleStep, 30, 300 * time.Millisecond * sampleStep, 5
	known := NewKnown([]string{"Zx9vault-Value.7731qq"})
	took := func(text string) time.Duration {
		from := time.Now()
		known.find(nil, text)
		return time.Since(from)
	}
	without := strings.NewReplacer("789c", "689c", "1f8b", "2f8b", "H4sI", "G4sI", "eJ", "fJ", "8b1f", "8b2f", "9c78", "9c68", "116170", "116160", "170 234", "160 234", "120 156", "110 156", "x\x9c", "w\x9c", `\x78`, `\x68`)
	for name, text := range hostileStreams(size) {
		for try := 1; ; try++ {
			with, plain := took(text), took(without.Replace(text))
			if try == 1 {
				t.Logf("%s: %s, without beginnings %s", name, with, plain)
			}
			if with < nothing || with < factor*plain {
				break
			}
			if try == tries {
				t.Errorf("%s: %d bytes took %s, without the beginnings %s", name, len(text), with, plain)
				break
			}
		}
	}
}

// TestStreamsShareOneBudget: the letters that are read for all streams of a text are bounded by its
// length, and beginnings that are none by their first bytes cost none of them.
func TestStreamsShareOneBudget(t *testing.T) {
	known := NewKnown([]string{"Zx9vault-Value.7731qq"})
	for _, size := range []int{100, 10_000, 1 << 20} {
		for name, text := range hostileStreams(size) {
			left := unpackingOf(text)
			whole := left
			known.findWithin(nil, text, &left)
			spent := whole.in - left.in
			if spent > packedTimes*len(text)+packedFields || whole.out-left.out > packedOut || left.tries < 0 {
				t.Errorf("%s: %d letters are read of a text of %d, and %d bytes unpacked in %d tries", name, spent, len(text), whole.out-left.out, whole.tries-left.tries)
			}
			switch endless := strings.HasSuffix(name, "without an end"); {
			case endless && size > 100 && spent < len(text):
				t.Errorf("%s: %d letters are read of a text of %d, so it proves nothing", name, spent, len(text))
			case (name == "hex of zlib" || name == "base64 of zlib") && spent > 0:
				t.Errorf("%s: %d letters are read behind what begins no stream", name, spent)
			}
		}
	}
}

// TestFalseBeginningHidesNoStream: a stream is found behind beginnings that are none, and beside a
// stream without the value.
func TestFalseBeginningHidesNoStream(t *testing.T) {
	const value = "Zx9vault-Value.7731qq"
	known := NewKnown([]string{value})
	stream := packedWith(t, "# a first line\nKEY="+value+"\n")["gzip"]
	other := hex.EncodeToString(packedWith(t, "# a first line\nand nothing else that matters here\n")["zlib"])
	digits, code := hex.EncodeToString(stream), base64.StdEncoding.EncodeToString(stream)
	for name, text := range map[string]string{
		"no stream before":          "789c634b " + digits,
		"no block before":           "789cffff " + digits,
		"a block without an end":    "789c00ffff0000 " + digits,
		"many without a block":      strings.Repeat("789c0000 ", 5000) + digits,
		"base64 behind no stream":   "eJxjS0tLS0tL " + code,
		"another stream before":     other + "\n" + digits,
		"raw before another stream": string(stream) + "\n" + other,
		"raw behind another stream": other + "\n" + string(stream),
	} {
		if found := known.find(nil, text); len(found) == 0 {
			t.Errorf("%s: %q", name, text[:min(len(text), 100)])
		}
	}
	// The text behind a stream stays.
	text := code + "\", \n: more"
	if found := known.find(nil, text); len(found) != 1 || found[0] != (Finding{0, len(code), RuleKnown}) {
		t.Errorf("%v of %d letters", found, len(code))
	}
}
