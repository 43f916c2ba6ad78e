package policy

import (
	"strings"

	"github.com/toolcrib/toolcrib/internal/jsontext"
)

// withoutWords takes out of an input the texts that are no paths, whatever they say: those
// of members for what is written somewhere, and those that are too long. To read them
// is most of the work for a call that writes a file. What it does not understand, it
// leaves as it is.
func withoutWords(input []byte) []byte {
	const tooLong = 6*pathLongest + 2 // a byte may be written as six
	if len(input) < 1<<10 {
		return input
	}
	var out []byte
	kept := 0 // of the input
	words := false
	for i := 0; i < len(input); {
		if input[i] != '"' {
			switch input[i] {
			case ' ', '\t', '\r', '\n', ':':
			default:
				words = false
			}
			i++
			continue
		}
		end, _, closed := jsontext.ScanString(input, i)
		if !closed {
			return append(out, input[kept:]...)
		}
		at := jsontext.SkipSpace(input, end)
		name := at < len(input) && input[at] == ':'
		if !name && (words || end-i > tooLong) {
			out = append(append(out, input[kept:i]...), `""`...)
			kept = end
		}
		words = name && wordsMember(input[i+1:end-1])
		i = end
	}
	if kept == 0 {
		return input
	}
	return append(out, input[kept:]...)
}

// wordsMember tells whether the name of a member, as it stands in the text, says that its
// value is written somewhere. Compare [pathWalk.member].
func wordsMember(name []byte) bool {
	text := string(name[:min(len(name), pathLongest)])
	return !strings.ContainsAny(text, `\/`) && !strings.HasPrefix(text, ".") && len(text) == len(name) && namesWords(text)
}
