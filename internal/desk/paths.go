package desk

import (
	"fmt"
	"strconv"
	"strings"
)

// Paths reads the paths that a person types to take a part of what would change. Blanks
// separate them, and one that has blanks stands in double quotes, as Go writes them.
func Paths(typed string) (list []string, err error) {
	for rest := strings.TrimSpace(typed); rest != ""; rest = strings.TrimSpace(rest) {
		if rest[0] != '"' {
			end := strings.IndexAny(rest, " \t\r\n")
			if end < 0 {
				end = len(rest)
			}
			list, rest = append(list, rest[:end]), rest[end:]
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return nil, fmt.Errorf("a path in quotes does not end: %s", rest)
		}
		path, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("a path cannot be read: %s", quoted)
		}
		list, rest = append(list, path), rest[len(quoted):]
	}
	return list, nil
}

// TakesPart tells whether a part of what would change can be taken, among some offers.
func (q *Question) TakesPart(offers []Offer) bool {
	for _, o := range offers {
		if o.Choice == AllowOnce {
			return q.ByPath
		}
	}
	return false
}
