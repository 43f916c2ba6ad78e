package layer

import (
	"encoding/base64"
	"fmt"
	"strings"
	"unicode/utf8"
)

// A name of a file is any bytes but a slash and a zero, and JSON holds text only. So a
// path that is no text is written down as a zero, with which no path begins, and the
// base64 of its bytes.

const notText = "\x00"

// pathText gives a path as text.
func pathText(path string) string {
	if utf8.ValidString(path) {
		return path
	}
	return notText + base64.StdEncoding.EncodeToString([]byte(path))
}

// pathOf is pathText turned round.
func pathOf(text string) (string, error) {
	if coded, ok := strings.CutPrefix(text, notText); ok {
		path, err := base64.StdEncoding.DecodeString(coded)
		if err != nil {
			return "", fmt.Errorf("it names a path that cannot be read: %w", err)
		}
		text = string(path)
	}
	if strings.Contains(text, "\x00") {
		return "", fmt.Errorf("it names %q, which no path is", text)
	}
	return text, nil
}
