package text

import (
	"fmt"
	"strings"
)

// Some joins the first texts of a list, and counts the rest.
func Some(list []string, most int, sep string) string {
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s%sand %d more", strings.Join(list[:most], sep), sep, more)
	}
	return strings.Join(list, sep)
}
