package scaffold

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// CheckName holds a name to what works everywhere: in clients, in rules, and as the name of a file. It has no sign of a path,
// so that nothing lands in another directory by its name.
func CheckName(what, name string) error {
	switch {
	case name == "" || len(name) > 48 || strings.Trim(name, letters+"0123456789_-") != "":
		return fmt.Errorf("%q is no name for %s: write letters, digits, _ and -, at most 48 of them", name, what)
	case !strings.ContainsRune(letters, rune(name[0])):
		return fmt.Errorf("%q is no name for %s: begin it with a letter", name, what)
	case strings.Contains(name, "__"):
		return fmt.Errorf("%q is no name for %s: two _ stand between a toolbox and its tool", name, what)
	}
	return nil
}

// CheckFunction holds a name to what functions may be called, too.
func CheckFunction(name string) error {
	if slices.Contains(reserved(), Function(name)) {
		return fmt.Errorf("%q is a word of the language, and no function can be called that: take another name", name)
	}
	return nil
}

// Function is a name as that of a function.
func Function(name string) string { return strings.ReplaceAll(name, "-", "_") }

// reserved are words that no function is called in Python, JavaScript or Go.
func reserved() []string {
	return strings.Fields(`and as assert async await break case catch chan class const continue debugger def default defer del delete do elif
		else enum except export extends fallthrough false finally for from func function global go goto if implements import in instanceof
		interface is lambda let main map new nonlocal not null or package pass private protected public raise range return select static struct
		super switch this throw true try type typeof var void while with yield None True False`)
}

// mostWords is how long a name is at most that is made from a description.
const mostWords = 40

// Slug makes a name from a description: its first words, joined by sep. Where none is left, as of a description in another
// script, it is the fallback with a few digits that stand for the description.
func Slug(description, fallback string, sep byte) string {
	var b strings.Builder
	for _, word := range strings.FieldsFunc(strings.ToLower(description), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}) {
		if b.Len() == 0 {
			if word = strings.TrimLeft(word, "0123456789"); word == "" {
				continue
			}
		}
		if b.Len()+1+len(word) > mostWords {
			if b.Len() == 0 {
				b.WriteString(word[:mostWords])
			}
			break
		}
		if b.Len() > 0 {
			b.WriteByte(sep)
		}
		b.WriteString(word)
	}
	name := b.String()
	if name == "" {
		sum := sha256.Sum256([]byte(description))
		name = fallback + string(sep) + hex.EncodeToString(sum[:3])
	}
	if slices.Contains(reserved(), name) {
		name = fallback + string(sep) + name
	}
	return name
}

// mostLine is how much of a description stands in a text.
const mostLine = 200

// Line is a description as one line that ends no comment, no string and no placeholder, wherever it is put.
func Line(description string) string {
	var b strings.Builder
	n, blank := 0, false
	for _, r := range strings.ToValidUTF8(description, "") {
		switch {
		case unicode.IsSpace(r), unicode.IsControl(r):
			blank = b.Len() > 0
			continue
		case !unicode.IsPrint(r):
			continue
		}
		switch r {
		case '\\', '*', '{', '}', '`', '<', '>', '$':
			r = ' '
		case '"':
			r = '\''
		}
		if blank {
			b.WriteByte(' ')
			n++
		}
		blank = false
		if n++; n > mostLine {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	line := strings.Join(strings.Fields(b.String()), " ")
	if line == "" {
		return "Say here what it does, and when to use it."
	}
	return line
}
