package settings

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/internal/sensitive"
)

// CheckProtected says what is wrong with an entry of grant.protected.
func CheckProtected(home, name string) error {
	if strings.HasPrefix(name, "!") { // a project may add to this list
		return fmt.Errorf("%q is an exception: it belongs into grant.unprotected", name)
	}
	if strings.HasPrefix(name, sensitive.UnledWord) {
		return fmt.Errorf("%q is neither a name nor a place", name)
	}
	_, err := sensitive.ParseList(home, name)
	return err
}
